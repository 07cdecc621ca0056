/**
 * The entry point of the bundle. Imports only the check of Node's version, so that the check comes first on a Node that
 * cannot run the rest, and so that the compile cache is enabled before the other modules are compiled.
 */
import { unsupportedNode } from '../lib/process/supported-node.ts'

const problem = unsupportedNode('t8s', process.versions.node)
if (problem) {
  process.stderr.write(`${problem}\n`)
  process.exit(1)
}
// Only for the bundle: with .ts sources, type stripping takes most of the time.
if (!import.meta.filename.endsWith('.ts'))
  process.getBuiltinModule('node:module').enableCompileCache(`${import.meta.dirname}/compile-cache`)
const [, , command, ...args] = process.argv
if (command === 'envtest') await (await import('./commands/serving/envtest.ts')).envtest(args)
else await (await import('./main.ts')).main(process.argv)
