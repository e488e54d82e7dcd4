// In a file of its own: a Node.js that is too old cannot read this expression.
import('../dist/gantry.js').catch((error) => {
  const isNotBuilt = error.code === 'ERR_MODULE_NOT_FOUND' && /dist.gantry\.js/.test(error.message);
  process.stderr.write(
    isNotBuilt ? 'The command is not built: run npm run gantry once.\n' : `${error.stack}\n`,
  );
  process.exit(1);
});
