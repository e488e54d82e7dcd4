// Plain JavaScript of 2009, because a Node.js that is too old has to be able to read it.
var MAJOR = 20;
var MINOR = 19;
var found = process.versions.node;
var parts = found.split('.').map(Number);
if (parts[0] < MAJOR || (parts[0] === MAJOR && parts[1] < MINOR)) {
  process.stderr.write(
    'Gantry needs Node.js ' +
      MAJOR +
      '.' +
      MINOR +
      ' or newer, and this is ' +
      found +
      ' (' +
      process.execPath +
      '): install a newer one from your distribution or nodejs.org.\n',
  );
  process.exit(1);
}
