/**
 * A part of the kubelet's tests on the embedded runtime, beside containerd: the lives of pods, and restarts of the
 * runtime below a kubelet. With `T8S_TEST_RUNTIME=embedded`, all of them run on it. Needs root.
 */
import { join } from 'node:path'
import { test } from 'node:test'
import { runInNamespaces, skipWithoutRoot } from './support/in-namespaces.ts'
import { runtimeVariable, usesEmbeddedRuntime } from './support/runtimes/node-runtime.ts'

const skip = skipWithoutRoot || (usesEmbeddedRuntime() && 'all tests run on the embedded runtime')

for (const name of ['conformance/node-lifecycle', 'restarts', 'restart-of-all'])
  test(`tests of ${name} on the embedded runtime`, { skip }, () =>
    runInNamespaces(join(import.meta.dirname, `${name}.test.ts`), { [runtimeVariable]: 'embedded' }),
  )
