/** Prints a title and a text from a hidden frame, without the rest of the page. */
export function printText(title: string, text: string): void {
  const frame = document.createElement('iframe');
  frame.hidden = true;
  document.body.append(frame);
  const { contentDocument: paper, contentWindow: view } = frame;
  if (!paper || !view) return;
  const heading = paper.createElement('h1');
  heading.textContent = title;
  const content = paper.createElement('pre');
  content.textContent = text;
  paper.body.append(heading, content);
  view.onafterprint = () => frame.remove();
  view.print();
}
