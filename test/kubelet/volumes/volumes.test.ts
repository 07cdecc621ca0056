/** Volumes with real mounts, and as containers see them. The tests are in `in-namespace/`. */
import { join } from 'node:path'
import { test } from 'node:test'
import { needsRoot } from '../../../src/kubelet/volumes/volumes.fixture.ts'
import { runTestsIn } from '../support/run-tests-in.ts'
import { startNodeRuntime } from '../support/runtimes/node-runtime.ts'

const fileOf = (name: string): string => join(import.meta.dirname, 'in-namespace', name)
const skip = needsRoot && 'needs root to mount'

test('volumes with real mounts', { skip }, () =>
  runTestsIn({ enter: ['unshare', '-m'], file: fileOf('real-mounts.ts') }),
)

test('volumes of pods on a real node', { skip }, async () => {
  const { pid, endpoint, stop } = await startNodeRuntime()
  try {
    // The kubelet's mounts must be visible to the runtime.
    const environment = { RUNTIME_ENDPOINT: endpoint }
    await runTestsIn({ enter: ['nsenter', '-t', String(pid), '-m'], file: fileOf('pods.ts'), environment })
  } finally {
    await stop()
  }
})
