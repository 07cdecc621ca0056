/** Metrics of pods and containers through CRI. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RuntimeService } from '#protobuf/cri-runtime_pb.js'
import { ObservedClient } from '../../src/kubelet/cri/observed-client.ts'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { TestRuntime } from './support/test-runtime.ts'

await inNamespaces(import.meta.filename, async () => {
  const runtime = await TestRuntime.start()
  const { method } = RuntimeService

  test('a container has all metrics that are described, with their labels', async (t) => {
    const client = new ObservedClient(`unix://${runtime.folder}/runtime.sock`)
    t.after(() => client.close())
    const sandbox = await runtime.sandbox()
    const resources = { memoryLimitInBytes: 64n << 20n, cpuPeriod: 100_000n, cpuQuota: 20_000n }
    const id = await runtime.run(sandbox, 'sleep 1000', { linux: { resources } })
    const { descriptors } = await client.call(method.listMetricDescriptors, {})
    const { podMetrics } = await client.call(method.listPodSandboxMetrics, {})
    const pod = podMetrics.find(({ podSandboxId }) => podSandboxId === sandbox.id)
    const container = pod?.containerMetrics.find(({ containerId }) => containerId === id)
    assert.ok(pod && container)
    const metrics = [...pod.metrics, ...container.metrics]
    for (const { name, help, labelKeys } of descriptors) {
      const found = metrics.filter((metric) => metric.name === name)
      assert.ok(found.length > 0 && help !== '', name)
      for (const { labelValues } of found) assert.equal(labelValues.length, labelKeys.length, name)
    }
    const valueIn = (name: string) => metrics.find((metric) => metric.name === name)?.value?.value
    assert.equal(valueIn('container_spec_memory_limit_bytes'), 64n << 20n)
    assert.equal(valueIn('container_spec_cpu_quota'), 20_000n)
    assert.ok((valueIn('container_threads') ?? 0n) >= 1n)
    assert.ok((valueIn('container_file_descriptors') ?? 0n) >= 3n)
    const received = pod.metrics.find(({ name }) => name === 'container_network_receive_bytes_total')
    assert.equal(received?.labelValues.at(-1), 'eth0')
  })
})
