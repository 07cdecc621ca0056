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

/** The reason why there are no such tests here; false if there are. */
export const skipWithoutRoot = process.getuid?.() === 0 ? false : 'needs root'

/** Without a terminal or signals to pass on, the first process of the namespace can be Node itself, if it reaps. */
const unshare = ['unshare', '-n', '-m', '-p', '-f', '--mount-proc', '--kill-child'] as const

/** Runs a file of `inNamespaces`, with more variables. Rejects with its output if a test fails. */
export const runInNamespaces = (file: string, environment: Readonly<Record<string, string>> = {}): Promise<void> =>
  runTestsIn({ enter: unshare, file, environment: { ...environment, [variable]: '1' } })

/**
 * Defines tests in the namespaces: runs the file once more there, and calls `define` in that process only.
 * @example await inNamespaces(import.meta.filename, () => { test('…', async () => {}) })
 */
export async function inNamespaces(file: string, define: () => void | Promise<void>): Promise<void> {
  if (isInNamespaces()) {
    reapOrphans()
    return define()
  }
  const title = `tests of ${relative(process.cwd(), file)} in namespaces of their own`
  test(title, { skip: skipWithoutRoot }, () => runInNamespaces(file))
}
