/**
 * Pods of workloads in suites that run on simulated and on real nodes: real ones run the script, and annotations make
 * simulated ones behave alike.
 */
import type { Pod } from '../../../src/client/kinds.ts'
import { annotationPrefix as simulation } from '../../../src/simulation/names.ts'
import { images } from '../../kubelet/support/runtimes/test-images.ts'
import { waitFor } from '../../support/wait-for.ts'
import { deadlineMs, type Requests } from './requests.ts'

export { images, simulation }

/** The main container's script, and annotations for simulated nodes. */
export interface Act {
  readonly script: string
  readonly annotations: Readonly<Record<string, string>>
}

type Labels = Readonly<Record<string, string>>

/** Runs until it is asked to stop. */
export const stays: Act = {
  script: "trap 'exit 0' TERM; sleep 1000 & wait",
  annotations: { [`${simulation}run-for`]: '1h' },
}
export const succeeds: Act = { script: 'exit 0', annotations: { [`${simulation}run-for`]: '10ms' } }
export const fails = (code: number): Act => ({
  script: `exit ${code}`,
  annotations: { [`${simulation}run-for`]: '10ms', [`${simulation}exit-code`]: String(code) },
})

/** Fails while `PodNodes.setReady` says so. */
export const toggledProbe = {
  exec: { command: ['test', '!', '-e', '/not-ready'] },
  periodSeconds: 1,
  failureThreshold: 1,
}

export interface TemplateOptions {
  /** Default: it runs until it is stopped. */
  readonly act?: Act
  readonly image?: string
  /** More fields of the container. */
  readonly container?: object
  /** More fields of the pod. */
  readonly spec?: object
}

/** Options of pods whose image cannot be pulled. */
export const missingImage: TemplateOptions = {
  image: 'registry.test/missing:404',
  act: { ...stays, annotations: { ...stays.annotations, [`${simulation}pull`]: 'fail' } },
}

export const template = (
  labels: Labels,
  { act = stays, image = images.busybox, container, spec }: TemplateOptions = {},
) => ({
  metadata: { creationTimestamp: null, labels, annotations: act.annotations },
  spec: {
    terminationGracePeriodSeconds: 1,
    automountServiceAccountToken: false,
    containers: [{ name: 'c', image, command: ['sh', '-c', act.script], resources: {}, ...container }],
    ...spec,
  },
})

/**
 * Resolves with the value of `probe` when it is neither undefined nor false. A failure shows the pods of the namespace.
 */
export async function eventually<T>(
  api: Requests,
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  try {
    return await waitFor(`${api.namespace}: ${what}`, probe, { deadlineMs, everyMs: 100 })
  } catch (error) {
    const pods = await api.list<Pod>(`${api.core}/pods`)
    const lines = pods.map(({ metadata, status }) => `${metadata.name} ${JSON.stringify(status)}`)
    throw new Error(`${what}\n${lines.join('\n')}`, { cause: error })
  }
}

export const isReady = ({ metadata, status }: Pod): boolean =>
  !metadata.deletionTimestamp &&
  (status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True')

export const selectorOf = (labels: Labels): string =>
  `labelSelector=${encodeURIComponent(
    Object.entries(labels)
      .map((pair) => pair.join('='))
      .join(),
  )}`

/** Returns pods by name, oldest name first. */
export const podsOf = async (api: Requests, labels: Labels): Promise<readonly Pod[]> =>
  (await api.list<Pod>(`${api.core}/pods?${selectorOf(labels)}`)).toSorted((a, b) =>
    (a.metadata.name ?? '').localeCompare(b.metadata.name ?? ''),
  )

/** Resolves with the pods when there are exactly `count` and all are ready. */
export const readyPods = (api: Requests, labels: Labels, count: number): Promise<readonly Pod[]> =>
  eventually(api, `${count} ready pods`, async () => {
    const pods = await podsOf(api, labels)
    return pods.length === count && pods.every(isReady) && pods
  })

/** Resolves with the object at a path when `is` returns true for it. */
export const objectWhen = <T>(api: Requests, path: string, what: string, is: (object: T) => boolean): Promise<T> =>
  eventually(api, `${path} ${what}`, async () => {
    const object = await api.get<T>(path)
    return is(object) && object
  })
