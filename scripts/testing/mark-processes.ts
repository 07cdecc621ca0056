/**
 * Loaded before each file of tests: marks all processes that it starts, and ends those that are left when it has ended.
 * Ends the file's own process if a test has left a timer or a server: the runner would wait for it without end.
 */
import { relative, resolve } from 'node:path'
import { after } from 'node:test'
import { endLeftovers, fileVariable } from './leftovers.ts'

/** After the tests, a process stops its clusters and ends by itself within this time, on a busy machine too. In ms. */
const endMs = Number(process.env.T8S_TEST_END_MS ?? 120_000)

const file = resolve(process.argv[1] ?? '')

if (process.env.NODE_TEST_CONTEXT === 'child-v8') {
  process.env[fileVariable] = file
  process.on('exit', () => {
    for (const command of endLeftovers(file))
      process.stderr.write(`left running by ${relative('', file)}, and ended: ${command}\n`)
  })
  after(endLater)
} else if (process.env[fileVariable] === file) {
  // The same file once more, in namespaces of its own.
  after(endLater)
}

function endLater(): void {
  setTimeout(() => {
    const resources = process.getActiveResourcesInfo().join(', ')
    process.stderr.write(`the tests of ${relative('', file)} are done, but not its process: ${resources}\n`)
    // The results are written when nothing more can happen.
    process.emit('beforeExit', 1)
    setTimeout(() => process.exit(1), 1000)
  }, endMs).unref()
}
