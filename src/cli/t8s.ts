/**
 * The entry point of the bundle. Loads as little as possible before it enables the compile cache, since earlier modules
 * are compiled at every start.
 */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(
    `t8s: Node ${process.versions.node} is too old: install Node 24 or newer (https://nodejs.org) and try again\n`,
  )
  process.exit(1)
}
// Only for the bundle: with .ts sources, type stripping takes most of the time.
if (!import.meta.filename.endsWith('.ts')) enableCompileCache(join(import.meta.dirname, 'compile-cache'))
const [, , command, ...args] = process.argv
if (command === 'envtest') await (await import('./commands/serving/envtest.ts')).envtest(args)
else await (await import('./main.ts')).main(process.argv)
