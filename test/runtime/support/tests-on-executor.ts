/** Runs tests of the runtime once more, with another executor. */
import { relative } from 'node:path'
import { test } from 'node:test'
import { runInNamespaces } from '../../kubelet/support/in-namespaces.ts'
import { executorVariable } from './test-executor.ts'

/** `files` are in the folder of the tests of the runtime. */
export function testOnExecutor(executor: string, files: readonly string[], skip: string | false = false): void {
  for (const name of files) {
    const file = new URL(`../${name}`, import.meta.url).pathname
    test(`${relative(process.cwd(), file)} passes with ${executor}`, { skip }, () =>
      runInNamespaces(file, { [executorVariable]: executor }),
    )
  }
}
