/** At `-v 1`, the start logs the disabled versions of the API. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testCluster } from '../support/test-cluster.ts'

test('disabled versions are logged at verbosity 1', async (t) => {
  const linesAt = async (verbosity: number, ...runtimeConfig: string[]): Promise<string[]> => {
    const lines: string[] = []
    await testCluster(t, { controllers: false, verbosity, runtimeConfig, log: (line) => lines.push(line) })
    return lines.filter((line) => line.startsWith('Skipping API'))
  }
  assert.deepEqual(await linesAt(0), [])
  const skipped = 'Skipping API resource.k8s.io/v1beta1 because it has no resources.'
  assert.ok((await linesAt(1)).includes(skipped))
  assert.ok(!(await linesAt(1, 'resource.k8s.io/v1beta1=true')).includes(skipped))
})
