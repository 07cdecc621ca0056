/**
 * The labels and annotations by which a kubelet recognizes its sandboxes and containers in the runtime, also after a
 * restart. Names and values are upstream's, so that either kubelet takes over the pods of the other.
 */
import { fnv1a32 } from '../../lib/encoding/fnv.ts'
import type { Container, Pod } from '../pod-types.ts'

const label = {
  podName: 'io.kubernetes.pod.name',
  podNamespace: 'io.kubernetes.pod.namespace',
  podUid: 'io.kubernetes.pod.uid',
  container: 'io.kubernetes.container.name',
} as const

const annotation = {
  hash: 'io.kubernetes.container.hash',
  restartCount: 'io.kubernetes.container.restartCount',
  terminationMessagePath: 'io.kubernetes.container.terminationMessagePath',
  terminationMessagePolicy: 'io.kubernetes.container.terminationMessagePolicy',
  preStop: 'io.kubernetes.container.preStopHandler',
  ports: 'io.kubernetes.container.ports',
  podGracePeriod: 'io.kubernetes.pod.terminationGracePeriod',
} as const

type Texts = Readonly<Record<string, string>>

/** The pod that a sandbox or container belongs to. */
export interface PodIdentity {
  readonly name: string
  readonly namespace: string
  readonly uid: string
}

export const identityLabels = ({ metadata }: Pod): Record<string, string> => ({
  [label.podName]: metadata.name ?? '',
  [label.podNamespace]: metadata.namespace ?? '',
  [label.podUid]: metadata.uid ?? '',
})

/** The pod's own labels are the sandbox's, too. */
export const sandboxLabels = (pod: Pod): Record<string, string> => ({ ...pod.metadata.labels, ...identityLabels(pod) })

export const containerLabels = (pod: Pod, container: Container): Record<string, string> => ({
  ...identityLabels(pod),
  [label.container]: container.name,
})

export function containerAnnotations(pod: Pod, container: Container, restartCount: number): Record<string, string> {
  const { terminationMessagePath = '', terminationMessagePolicy = '', lifecycle, ports } = container
  return {
    [annotation.hash]: containerHash(container),
    [annotation.restartCount]: String(restartCount),
    [annotation.terminationMessagePath]: terminationMessagePath,
    [annotation.terminationMessagePolicy]: terminationMessagePolicy,
    [annotation.podGracePeriod]: String(pod.spec?.terminationGracePeriodSeconds ?? 30),
    ...(lifecycle?.preStop && { [annotation.preStop]: JSON.stringify(lifecycle.preStop) }),
    ...(ports && ports.length > 0 && { [annotation.ports]: JSON.stringify(ports) }),
  }
}

/** Undefined for something that no kubelet has made. */
export function identityOf(labels: Texts): PodIdentity | undefined {
  const uid = labels[label.podUid]
  if (!uid) return undefined
  return { uid, name: labels[label.podName] ?? '', namespace: labels[label.podNamespace] ?? '' }
}

export const containerNameOf = (labels: Texts): string => labels[label.container] ?? ''

export const restartCountOf = (annotations: Texts): number => Number(annotations[annotation.restartCount] ?? 0)

export const hashOf = (annotations: Texts): string => annotations[annotation.hash] ?? ''

export const terminationMessageOf = (annotations: Texts): { readonly path: string; readonly policy: string } => ({
  path: annotations[annotation.terminationMessagePath] ?? '',
  policy: annotations[annotation.terminationMessagePolicy] ?? '',
})

/** Selects everything of a pod in lists of the runtime. */
export const selectPod = (uid: string): Record<string, string> => ({ [label.podUid]: uid })

/** Selects everything of the pods that have had a name. */
export const selectPodNamed = (namespace: string, name: string): Record<string, string> => ({
  [label.podNamespace]: namespace,
  [label.podName]: name,
})

/**
 * A hash of the fields whose change restarts a container: its name and image, as upstream (32-bit FNV-1a of their JSON,
 * in hexadecimal digits).
 */
export const containerHash = ({ name, image }: Pick<Container, 'name' | 'image'>): string =>
  fnv1a32(JSON.stringify({ name, image })).toString(16)
