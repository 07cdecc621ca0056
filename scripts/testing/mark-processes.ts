/**
 * Loaded before each file of tests: marks all processes that it starts, and ends those that are left when it has ended.
 */
import { relative, resolve } from 'node:path'
import { endLeftovers, fileVariable } from './leftovers.ts'

const file = resolve(process.argv[1] ?? '')

// The runner itself, and programs that tests start with the options of this process, are no files of tests.
if (file.endsWith('.test.ts') && process.env[fileVariable] === undefined) {
  process.env[fileVariable] = file
  process.on('exit', () => {
    for (const command of endLeftovers(file))
      process.stderr.write(`left running by ${relative('', file)}, and ended: ${command}\n`)
  })
}
