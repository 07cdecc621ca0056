/** Running containers and sandboxes that a path of the kubelet's API names, in the runtime. */
import { ContainerState, PodSandboxState } from '#protobuf/cri-runtime_pb.js'
import { containerNameOf, identityOf, selectPod } from '../../cri/labels.ts'
import type { CriRuntime } from '../../cri/runtime.ts'
import type { Pod } from '../../pod-types.ts'

/** The ID of the running container; undefined if there is none. */
export async function runningContainer(
  runtime: Pick<CriRuntime, 'containers'>,
  { metadata: { uid = '' } }: Pod,
  name: string,
): Promise<string | undefined> {
  const found = await runtime.containers({
    state: { state: ContainerState.CONTAINER_RUNNING },
    labelSelector: selectPod(uid),
  })
  return found.find(({ labels }) => containerNameOf(labels) === name)?.id
}

/** The ID of the newest sandbox that works; undefined if there is none. */
export async function readySandboxOf(
  runtime: Pick<CriRuntime, 'sandboxes'>,
  { metadata: { uid = '' } }: Pod,
): Promise<string | undefined> {
  const found = await runtime.sandboxes({
    state: { state: PodSandboxState.SANDBOX_READY },
    labelSelector: selectPod(uid),
  })
  return found.sort((a, b) => (a.createdAt > b.createdAt ? -1 : 1))[0]?.id
}

/** The pods that have running containers, with these, as `/runningpods/` shows them. */
export async function runningPods(runtime: Pick<CriRuntime, 'containers'>): Promise<Pod[]> {
  const running = await runtime.containers({ state: { state: ContainerState.CONTAINER_RUNNING } })
  const pods = new Map<string, Pod>()
  for (const { labels, image } of running) {
    const identity = identityOf(labels)
    if (!identity) continue
    const { name, namespace, uid } = identity
    const known = pods.get(uid)
    const container = { name: containerNameOf(labels), image: image?.image ?? '', resources: {} }
    const containers = [...(known?.spec?.containers ?? []), container]
    pods.set(uid, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace, uid, creationTimestamp: null as never },
      spec: { containers },
      status: {},
    })
  }
  return [...pods.values()]
}
