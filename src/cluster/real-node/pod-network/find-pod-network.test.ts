import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import { PodSandboxSchema, PodSandboxState, PodSandboxStatusResponseSchema } from '#protobuf/cri-runtime_pb.js'
import { NamespaceMode } from '#protobuf/cri-values_pb.js'
import { findPodNetwork, type Machine } from './find-pod-network.ts'
import { localRuntimes } from './local-runtimes.ts'

const web = { namespace: 'default', name: 'web' }

interface FakeSandbox {
  readonly id: string
  readonly createdAt?: bigint
  readonly isReady?: boolean
  readonly network?: NamespaceMode
}

/** A machine whose runtimes have these sandboxes of the pod; an error in their place is the answer. */
function machine(runtimes: Readonly<Record<string, readonly FakeSandbox[] | Error>>): Machine {
  return {
    endpoints: Object.keys(runtimes),
    connect(endpoint) {
      const all = runtimes[endpoint]!
      const infoOf = (id: string): { info: Record<string, string>; startedAt: bigint } => ({
        info: { info: `${endpoint}/${id}` },
        startedAt: 0n,
      })
      return {
        async sandboxes(filter) {
          if (all instanceof Error) throw all
          assert.deepEqual(filter?.labelSelector, {
            'io.kubernetes.pod.namespace': 'default',
            'io.kubernetes.pod.name': 'web',
          })
          return all.map(({ id, createdAt = 0n, isReady = true }) => {
            const state = isReady ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY
            return create(PodSandboxSchema, { id, createdAt, state })
          })
        },
        async sandboxStatus(id) {
          const network = (all as readonly FakeSandbox[]).find((one) => one.id === id)?.network ?? NamespaceMode.POD
          return create(PodSandboxStatusResponseSchema, { status: { linux: { namespaces: { options: { network } } } } })
        },
        sandboxInfo: async (id) => infoOf(id),
        close() {},
      }
    },
    namespaceFile: (_, { info = '' }) => (info.endsWith('hidden') ? undefined : `/net/${info}`),
  }
}

test('the newest sandbox of a pod has its network', async () => {
  const sandboxes = [
    { id: 'old', createdAt: 1n, isReady: false },
    { id: 'new', createdAt: 2n },
  ]
  assert.equal(await findPodNetwork(web, machine({ a: [], b: sandboxes })), '/net/b/new')
})

test('a pod that is not on this node is an error that shows how to find its node', async () => {
  await assert.rejects(findPodNetwork(web, machine({ a: [], b: [] })), {
    message:
      'the pod default/web was not found on this node (runtimes without it: a, b): ' +
      'kubectl get pod web -n default -o wide shows its node',
  })
  const denied = new Error('rpc error: code = Unavailable desc = connect EACCES /run/a.sock')
  await assert.rejects(findPodNetwork(web, machine({ a: denied })), {
    message:
      'the pod default/web was not found on this node: kubectl get pod web -n default -o wide shows its node; ' +
      'the runtime at a did not answer: its socket needs root, so run this with sudo',
  })
  await assert.rejects(findPodNetwork(web, machine({})), /^ExplainedError: there is no container runtime on this/)
})

test('pods without a network of their own are errors', async () => {
  const rejects = (sandbox: FakeSandbox, pattern: RegExp): Promise<void> =>
    assert.rejects(findPodNetwork(web, machine({ a: [sandbox] })), pattern)
  await rejects({ id: 'a', network: NamespaceMode.NODE }, /default\/web uses the network of its node: leave out --pod/)
  await rejects({ id: 'a', isReady: false }, /default\/web has no network now: it has ended, or it starts again/)
  await rejects({ id: 'hidden' }, /the runtime at a does not show the network namespace of default\/web to this/)
  const both = machine({ a: [{ id: 'a' }], b: [{ id: 'b' }] })
  await assert.rejects(findPodNetwork(web, both), /several clusters .* choose one with .*-endpoint a or b/)
})

test('the sockets of clusters, of the runtime alone, and of other runtimes are found', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-runtimes-'))
  t.after(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'cluster'))
  mkdirSync(join(folder, 'machines'))
  for (const name of ['runtime.sock', 'cluster/runtime.sock', 'containerd.sock']) writeFileSync(join(folder, name), '')
  const others = ['containerd.sock', 'crio.sock'].map((name) => join(folder, name))
  assert.deepEqual(
    localRuntimes(folder, others),
    ['runtime.sock', 'cluster/runtime.sock', 'containerd.sock'].map((name) => `unix://${join(folder, name)}`),
  )
  assert.deepEqual(localRuntimes(join(folder, 'missing'), []), [])
})
