/**
 * Runs all tests of a file in a process with network, mount and process namespaces of its own: pods get their
 * addresses there, mounts of the kubelet reach containers, and everything ends with the process. Needs root.
 */
import { relative } from 'node:path'
import { test } from 'node:test'
import { reapOrphans } from '../../../src/runtime/host/orphans.ts'
import { runTestsIn } from './run-tests-in.ts'

const variable = 'T8S_TEST_NAMESPACES'

/** True in the process that has the namespaces. */
export const isInNamespaces = (): boolean => process.env[variable] === '1'

const skip = process.getuid?.() === 0 ? false : 'needs root'

/**
 * Without a terminal or signals to pass on, the first process of the namespace can be Node itself. It is killed with
 * the runner of the tests.
 */
const unshare = [
  'setpriv',
  '--pdeathsig',
  'KILL',
  'unshare',
  '-n',
  '-m',
  '-p',
  '-f',
  '--mount-proc',
  '--kill-child',
] as const

/**
 * Defines tests in the namespaces: runs the file once more there, and calls `define` in that process only.
 * @example await inNamespaces(import.meta.filename, () => { test('…', async () => {}) })
 */
export async function inNamespaces(file: string, define: () => void | Promise<void>): Promise<void> {
  if (isInNamespaces()) {
    reapOrphans()
    return define()
  }
  test(`tests of ${relative(process.cwd(), file)} in namespaces of their own`, { skip }, () =>
    runTestsIn({ enter: unshare, file, environment: { [variable]: '1' } }),
  )
}
