/** The commands that a page of the documentation tells its reader to enter. */
export interface Walk {
  /** Commands with their expected output, which depend on one another: lines that begin with `$ `. */
  readonly session: readonly { readonly command: string; readonly output: string }[];
  /** Commands that stand alone. */
  readonly commands: readonly string[];
}

/** How a command begins: settings of its environment, and one of the programs that the documents name. */
const START =
  /^(?:[A-Z_]+=(?:"[^"]*"|<[^>]*>|\S*) )*(?:npm (?:ci|run|start|test|install|uninstall)|npx|node|node_modules\/\.bin\/[\w-]+|radar-reader|gantry|gantry-edge|promtool|apt|docker|helm|git|sudo|systemctl|pmtiles|openssl|sha256sum|chown|sysctl|deploy\/\S+\.sh)(?: |$)/;

/** Finds the commands of a page in Markdown: those in blocks of code without a language, and those in the text. */
export function commandsOf(page: string): Walk {
  const session: { command: string; output: string }[] = [];
  const commands = new Set<string>();
  for (const [, block = ''] of page.matchAll(/^```(?:sh|bash|console)?\n([\s\S]*?)^```$/gm)) {
    if (!block.startsWith('$ ')) {
      for (const line of block.split('\n')) if (START.test(line)) commands.add(withoutRemark(line));
      continue;
    }
    for (const part of block.split(/^\$ /m).slice(1)) {
      const lines = part.trimEnd().split('\n');
      // A command continues on lines that are indented.
      const next = lines.findIndex((line, index) => index > 0 && !line.startsWith(' '));
      const end = next === -1 ? lines.length : next;
      session.push({ command: lines.slice(0, end).join('\n'), output: lines.slice(end).join('\n') });
    }
  }
  const text = page.replaceAll(/^```[\s\S]*?^```$/gm, '');
  for (const [, code = ''] of text.matchAll(/`([^`\n]+)`/g)) {
    if (START.test(code) && code.includes(' ')) commands.add(code);
  }
  return { session, commands: [...commands] };
}

function withoutRemark(line: string): string {
  return line.replace(/\s+#.*$/, '').trim();
}
