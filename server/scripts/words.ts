import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// Refuses words that have another word in the glossary of CONTRIBUTING.md, in names, comments, messages and documents.
// `npm run verify` runs it.

interface Refused {
  readonly word: RegExp;
  readonly instead: string;
  /** What is left out of a line before. */
  readonly beside?: RegExp;
}

const WORDS: readonly Refused[] = [
  { word: /(?<!control[ -])\brooms\b|\broomOf\b/i, instead: 'module' },
  { word: /\bfloors\b|\bfloorOf\b|\bon (a|the) (lower|higher|same) floor\b/i, instead: 'layer' },
  { word: /\b\w*Doors?\b|\bhttp-door\b/, instead: 'handler' },
  {
    word: /(?<![-\w])([Uu]n|[Rr]e)?[Ff]old(s|ed|ing)?(?![\w-])|(?<![a-z])(un)?fold(ed|ing)?(?=[A-Z])|[a-z](Unf|F)old(s|ed|ing)?(?![a-z])|\bFOLD(S|ED|ING)?(_|\b)/,
    instead: 'roll up (counts), case-fold (strings)',
    // The names of SQL functions, tables and columns are those of released migrations.
    beside:
      /(gantry_fold|\w+_(un)?folded\w*|\bNOT folded|, folded\)|[cC]ase[ -]?[fF]old\w*|caseFold\w*|memoizedCaseFold|above the fold)/g,
  },
  { word: /\bcreateLanes\b/, instead: 'sequence' },
  {
    word: /\b(MOST|LEAST|LONGEST|SHORTEST|FEWEST|LARGEST|SMALLEST)(_(?!COMMON)[A-Z]|\b)/,
    instead: 'MAX_ or MIN_',
  },
  { word: /\bstandings\b|\bstanding(Of|At)\b/i, instead: 'status snapshot' },
  { word: /\bsigns? of life\b/i, instead: 'liveness' },
  { word: /\blast[- ]?contacts?\b/i, instead: 'last seen' },
  { word: /[lL]ookalike/, instead: 'confusable' },
  { word: /\bStretch\b|\bstretches\b|STRETCH/, instead: 'range' },
  { word: /\bexaminations?\b|\bexamine(?=[A-Z])/, instead: 'diagnostics, check' },
  {
    word: /\b(an?|the|no|each|every|its|their|of|with|without|new|one|two|\d) pictures?\b|\B[pP]icture[A-Z]|[a-z]Pictures?(?![a-z])|\bPictures?\b|PICTURE/,
    instead: 'image',
    // The names of makers, of the API, of files and of columns.
    beside:
      /(licensePlatePicture|vehiclePicture|detectionPicture|controlPicture|newPictureBytes|lackingPictures|pictureStore|Original picture and Target picture|the picture settings|['"]Picture["']|Picture(?=[:=/])|Picture: picture|wrapper Picture|0024-pictures-of-notes|PICTURE'|=PICTURE|folder pictures)/g,
  },
  { word: /\b[rR]ecorders?\b/, instead: 'NVR' },
  {
    word: /[a-z]Watch(?!list|dog)|\b[wW]atches\b(?! (the|for|a|tokens))|\bWatch\b(?! )/,
    instead: 'monitor, assignment',
  },
  {
    word: /\b(dear|(?<!runs\.)(?<!")begun|tells of|of theirs)\b/i,
    instead: 'costly, started, subscribed, theirs',
  },
];

const root = fileURLToPath(new URL('../../', import.meta.url));
const READ = /\.(tsx?|js|cjs|mjs|css|html|md|sh|ya?ml|json|sql)$/;
/** Generated, released, other people's, or in another language. */
const LEFT_OUT =
  /^(CHANGELOG\.md|package-lock\.json|docs\/api\.md|server\/schema\.sql|server\/migrations\/|server\/test\/(devices|data)\/|bench\/results\/)|\/locale\/(tr|ar)\.json$|\/words\.ts$/;

const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((name) => READ.test(name) && !LEFT_OUT.test(name));

const found: string[] = [];
for (const name of files) {
  const lines = readFileSync(`${root}${name}`, 'utf8').split('\n');
  for (const { word, instead, beside } of WORDS) {
    for (const [index, line] of lines.entries()) {
      if (name === 'CONTRIBUTING.md' && line.startsWith('| ')) continue;
      const match = word.exec(beside ? line.replaceAll(beside, '') : line);
      if (match) found.push(`${name}:${index + 1}: "${match[0]}": ${instead}`);
    }
  }
}
for (const each of found) process.stderr.write(`${each}\n`);
if (found.length > 0) {
  process.stderr.write(`${found.length} words that the glossary of CONTRIBUTING.md replaces\n`);
  process.exitCode = 1;
}
