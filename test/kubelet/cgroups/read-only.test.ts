/** A kubelet that cannot make cgroups, as in a container. The test is in `in-namespace/`. Needs root. */
import { join } from 'node:path'
import { test } from 'node:test'
import { runTestsIn } from '../support/run-tests-in.ts'
import { startNodeRuntime } from '../support/runtimes/node-runtime.ts'

const skip = process.getuid?.() === 0 ? false : 'needs root to mount'

/** Each hierarchy is a mount of its own. */
const readOnly =
  `for path in $(grep -E ' - cgroup2? ' /proc/self/mountinfo | cut -d' ' -f5); do ` +
  'mount -o remount,bind,ro "$path"; done; exec "$@"'

test('pods without cgroups of the kubelet', { skip, timeout: 120_000 }, async () => {
  const { endpoint, stop } = await startNodeRuntime()
  try {
    await runTestsIn({
      enter: ['unshare', '-m', 'sh', '-c', readOnly, 'sh'],
      file: join(import.meta.dirname, 'in-namespace/read-only-pods.ts'),
      environment: { RUNTIME_ENDPOINT: endpoint },
    })
  } finally {
    await stop()
  }
})
