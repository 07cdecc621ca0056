/**
 * The state of one reconcile of a Deployment. ReplicaSets are written immediately; changes to the Deployment are
 * written together at the end.
 */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import { type Deployment, deployments, type ReplicaSet, replicaSets } from '../../../client/kinds.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import { ignoreNotFound } from '../../api-errors.ts'
import {
  conditionOf,
  type DeploymentCondition,
  type DeploymentStatus,
  newCondition,
  reasons,
  withCondition,
} from './conditions.ts'
import { newSetAnnotations, revisionAnnotation, sizeAnnotations } from './revisions.ts'
import { byAge, maxReplicasOf, replicasOf, type Sizes } from './sizes/sizes.ts'
import { allOf, progressCheckInMs, progressDeadline, withPause } from './status.ts'
import { isSameTemplate } from './template-hash.ts'

export interface RolloutContext extends Pick<ReconcileContext, 'client' | 'caches' | 'events' | 'requeue' | 'clock'> {
  /** Records the outcome of each write of a ReplicaSet. */
  readonly recordWrite: (write: Promise<ReplicaSet>) => Promise<ReplicaSet>
}

export class Rollout {
  readonly context: RolloutContext
  /** In ms since the epoch. */
  readonly now: number
  readonly #cached: Deployment
  #deployment: Deployment
  #newSet: ReplicaSet | undefined
  #oldSets: readonly ReplicaSet[]

  /** `sets` are the sets that the Deployment controls. */
  constructor(deployment: Deployment, sets: readonly ReplicaSet[], context: RolloutContext, now: number) {
    this.#cached = deployment
    this.#deployment = deployment
    this.context = context
    this.now = now
    this.#newSet = sets.toSorted(byAge).find(({ spec }) => isSameTemplate(spec?.template, deployment.spec?.template))
    this.#oldSets = sets.filter((set) => set !== this.newSet)
  }

  /** The Deployment including unwritten changes. */
  get deployment(): Deployment {
    return this.#deployment
  }

  /** The set of the current template, if it exists. */
  get newSet(): ReplicaSet | undefined {
    return this.#newSet
  }

  get oldSets(): readonly ReplicaSet[] {
    return this.#oldSets
  }

  get conditions(): readonly DeploymentCondition[] {
    return this.deployment.status?.conditions ?? []
  }

  /** Sets a condition in the unwritten status. */
  setCondition(type: string, status: 'True' | 'False' | 'Unknown', reason: string, message: string): void {
    this.#setConditions(withCondition(this.conditions, newCondition(type, status, reason, message, this.now)))
  }

  /** Updates the Progressing condition when the Deployment is paused or resumed. */
  updatePause(): void {
    this.#setConditions(withPause(this.deployment, this.now))
  }

  /** Copies annotations and minReadySeconds to the new set, if it exists, and its revision to the Deployment. */
  async syncRevision(): Promise<void> {
    if (!this.newSet) return
    const { metadata, spec } = this.newSet
    const annotations = newSetAnnotations(this.deployment, metadata.annotations, this.oldSets)
    const minReadySeconds = this.deployment.spec?.minReadySeconds ?? 0
    if (!semanticallyEqual(annotations, metadata.annotations) || (spec?.minReadySeconds ?? 0) !== minReadySeconds)
      this.#newSet = await this.#update({
        ...this.newSet,
        metadata: { ...metadata, annotations },
        ...(spec && { spec: { ...spec, minReadySeconds } }),
      })
    this.#copyRevision(this.newSet)
    if (progressDeadline(this.deployment) !== undefined && !conditionOf(this.conditions, 'Progressing'))
      this.setCondition('Progressing', 'True', reasons.found, `Found new replica set "${metadata.name}"`)
  }

  /** Makes `set`, which was created or found, the new set, and copies its revision to the Deployment. */
  adoptNewSet(set: ReplicaSet): void {
    this.#newSet = set
    this.#copyRevision(set)
  }

  #copyRevision({ metadata }: ReplicaSet): void {
    const revision = metadata.annotations?.[revisionAnnotation]
    if (revision === undefined) return
    const { metadata: own } = this.deployment
    this.#deployment = {
      ...this.deployment,
      metadata: { ...own, annotations: { ...own.annotations, [revisionAnnotation]: revision } },
    }
  }

  /** Scales ReplicaSets and annotates them with the Deployment's size. */
  async scale(sizes: Sizes): Promise<void> {
    for (const set of allOf(this)) {
      const size = sizes.get(set.metadata.name ?? '')
      if (size !== undefined) this.#replace(set, await this.#scaled(set, size))
    }
  }

  /** Writes the Deployment if its status or revision has changed. */
  async write(status: DeploymentStatus): Promise<void> {
    const { client, requeue } = this.context
    const cached = this.#cached
    const changed = { ...this.deployment, status }
    if (
      !semanticallyEqual(cached.status, status) ||
      !semanticallyEqual(cached.metadata.annotations, changed.metadata.annotations)
    ) {
      await client.updateStatus(deployments, changed).catch(ignoreNotFound)
      return
    }
    const checkInMs = progressCheckInMs(changed, status, this.now)
    if (checkInMs !== undefined && !changed.spec?.paused) requeue(keyOf(cached), checkInMs)
  }

  #setConditions(conditions: DeploymentCondition[]): void {
    this.#deployment = { ...this.deployment, status: { ...this.deployment.status, conditions } }
  }

  async #scaled(set: ReplicaSet, size: number): Promise<ReplicaSet> {
    const before = replicasOf(set)
    const annotations = {
      ...set.metadata.annotations,
      ...sizeAnnotations(replicasOf(this.deployment), maxReplicasOf(this.deployment)),
    }
    if (!set.spec || (size === before && semanticallyEqual(annotations, set.metadata.annotations))) return set
    const updated = await this.#update({
      ...set,
      metadata: { ...set.metadata, annotations },
      spec: { ...set.spec, replicas: size },
    })
    if (size !== before) {
      const direction = size > before ? 'up' : 'down'
      const message = `Scaled ${direction} replica set ${set.metadata.name} from ${before} to ${size}`
      this.context.events.record(this.deployment, 'Normal', 'ScalingReplicaSet', message)
    }
    return updated
  }

  #update(set: ReplicaSet): Promise<ReplicaSet> {
    return this.context.recordWrite(this.context.client.update(replicaSets, set))
  }

  #replace(set: ReplicaSet, updated: ReplicaSet): void {
    if (set === this.newSet) this.#newSet = updated
    else this.#oldSets = this.oldSets.map((old) => (old === set ? updated : old))
  }
}
