/** The collection of dead containers, sandboxes, logs and files of pods, on a real node. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { type Pod, pods } from '../../src/client/kinds.ts'
import { CriRuntime } from '../../src/kubelet/cri/runtime.ts'
import { reachable } from '../support/reachable-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { inNamespaces } from './support/in-namespaces.ts'
import { TestNode } from './support/test-node.ts'

/** Starts when the container has written its number into the volume; the first two instances fail. */
const thirdRuns =
  'n=$(cat /data/n || echo 0); echo $((n + 1)) > /data/n; echo run $n; [ $n -ge 2 ] && sleep 3600; exit 1'

/** The traces of pods on the node. */
class Traces {
  readonly #node: TestNode
  readonly #runtime: CriRuntime

  constructor(node: TestNode) {
    this.#node = node
    this.#runtime = new CriRuntime(node.runtime.endpoint)
    after(() => this.#runtime.close())
  }

  logFolder({ metadata: { namespace, name, uid } }: Pod): string {
    return join(this.#node.root, 'logs', `${namespace}_${name}_${uid}`)
  }

  links({ metadata: { name } }: Pod): string[] {
    return readdirSync(join(this.#node.root, 'containers')).filter((one) => one.startsWith(`${name}_default_`))
  }

  containers({ metadata: { uid = '' } }: Pod) {
    return this.#runtime.containers({ labelSelector: { 'io.kubernetes.pod.uid': uid } })
  }

  sandboxes({ metadata: { uid = '' } }: Pod) {
    return this.#runtime.sandboxes({ labelSelector: { 'io.kubernetes.pod.uid': uid } })
  }

  /** Resolves when nothing of a pod is left on the node. */
  removed(pod: Pod): Promise<boolean> {
    const count = async (): Promise<number> =>
      (await this.containers(pod)).length + (await this.sandboxes(pod)).length + this.links(pod).length
    const hasFolders = (): boolean => existsSync(this.logFolder(pod)) || existsSync(this.#node.podFolder(pod))
    return waitFor(`nothing of ${pod.metadata.name} is left`, async () => (await count()) === 0 && !hasFolders(), {
      deadlineMs: 120_000,
      everyMs: 100,
    })
  }
}

await inNamespaces(import.meta.filename, () =>
  describe('collection', async () => {
    const node = await TestNode.start()
    const api = reachable({ after }, node.cluster)
    const traces = new Traces(node)
    const logOf = (pod: Pod, query = ''): Promise<string> =>
      api.text(`/api/v1/namespaces/default/pods/${pod.metadata.name}/log${query}`)

    test('the newest dead container of a restarted one remains, with its log', async () => {
      const pod = await node.create({
        name: 'restarts',
        restartPolicy: 'Always',
        script: thirdRuns,
        volumes: [{ name: 'data', emptyDir: {} }],
        container: { volumeMounts: [{ name: 'data', mountPath: '/data' }] },
      })
      await node.until(pod, 'runs a third time', ({ status }) => {
        const [main] = status?.containerStatuses ?? []
        return main?.restartCount === 2 && main.state?.running !== undefined
      })
      await waitFor('one dead container remains', async () => (await traces.containers(pod)).length === 2)
      assert.equal(await logOf(pod, '?previous=true'), 'run 1\n')
      assert.equal(await logOf(pod), 'run 2\n')
      assert.deepEqual(readdirSync(join(traces.logFolder(pod), 'main')).sort(), ['1.log', '2.log'])
      assert.equal(traces.links(pod).length, 2)
      await node.client.delete(pods, 'default', 'restarts')
      await traces.removed(pod)
    })

    test('a pod that has ended remains until it is deleted, also for a kubelet that starts later', async () => {
      const pod = await node.create({ name: 'ends', script: 'echo done; echo -n bye > /dev/termination-log' })
      assert.equal(await node.ended(pod), 'done')
      const message = async () => (await node.read(pod)).status?.containerStatuses?.[0]?.state?.terminated?.message
      assert.equal(await message(), 'bye')
      const forgotten = await node.create({ name: 'forgotten', script: 'sleep 3600' })
      await node.running(forgotten)
      await node.stopKubelet()
      await node.client.delete(pods, 'default', 'forgotten', { gracePeriodSeconds: 0 })
      await node.startKubelet()
      await traces.removed(forgotten)
      assert.equal(await logOf(pod), 'done\n')
      assert.equal(await message(), 'bye')
      assert.equal((await traces.containers(pod)).length, 1)
      await node.client.delete(pods, 'default', 'ends')
      await traces.removed(pod)
    })
  }),
)
