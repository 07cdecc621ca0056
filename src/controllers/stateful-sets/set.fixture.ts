/** StatefulSets and pods for the tests of this folder. */
import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../client/kinds.ts'
import type { SetRevision, Situation } from './decisions/situation.ts'
import { memberOf } from './member.ts'

type Spec = NonNullable<StatefulSet['spec']>

const template = (image: string): Spec['template'] => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image }] },
})

export const aSet = (spec: Partial<Spec> = {}): StatefulSet => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web', namespace: 'ns', uid: 'set', generation: 1 },
  spec: {
    replicas: 3,
    serviceName: 'web',
    selector: { matchLabels: { app: 'web' } },
    template: template('a'),
    updateStrategy: { type: 'RollingUpdate' },
    ...spec,
  },
})

export const revisions = {
  old: { name: 'web-old', template: template('a') },
  new: { name: 'web-new', template: template('b') },
} as const satisfies Record<string, SetRevision>

/** The current time of the tests. */
export const now = Date.parse('2026-01-01T12:00:00Z')

export type PodState = 'ready' | 'running' | 'pending' | 'failed' | 'succeeded' | 'terminating' | 'fresh'

/** A pod of an ordinal: `terminating` is ready and deleted, `fresh` ready for 5 s, `ready` for a minute. */
export function aPod(ordinal: number, state: PodState, revision: keyof typeof revisions = 'old', set = aSet()): Pod {
  const isReady = state === 'ready' || state === 'terminating' || state === 'fresh'
  const phases = { pending: 'Pending', failed: 'Failed', succeeded: 'Succeeded' } as const
  const phase = state === 'pending' || state === 'failed' || state === 'succeeded' ? phases[state] : 'Running'
  const since = new Date(now - (state === 'fresh' ? 5_000 : 60_000)).toISOString()
  const pod = memberOf(set, revisions[revision], ordinal)
  return {
    ...pod,
    metadata: { ...pod.metadata, uid: `uid-${ordinal}`, ...(state === 'terminating' && { deletionTimestamp: since }) },
    status: { phase, conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: since }] },
  }
}

/** Pods by ordinal. */
export const pods = (
  states: Readonly<Record<number, PodState | readonly [PodState, keyof typeof revisions]>>,
  set = aSet(),
): Pod[] =>
  Object.entries(states).map(([ordinal, state]) =>
    typeof state === 'string'
      ? aPod(Number(ordinal), state, 'old', set)
      : aPod(Number(ordinal), state[0], state[1], set),
  )

interface SituationOptions {
  readonly claims?: readonly PersistentVolumeClaim[]
  readonly updating?: boolean
  readonly usesMaxUnavailable?: boolean
}

export const situation = (
  set: StatefulSet,
  members: readonly Pod[],
  { claims = [], updating = false, usesMaxUnavailable = false }: SituationOptions = {},
): Situation => ({
  set,
  pods: members,
  current: revisions.old,
  update: updating ? revisions.new : revisions.old,
  claim: (name) => claims.find(({ metadata }) => metadata.name === name),
  usesMaxUnavailable,
  now,
})
