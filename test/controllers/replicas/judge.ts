/**
 * Watches what the controllers do to the one Deployment of a namespace, and notes what must not be. Pods and
 * ReplicaSets are watched apart, so that nothing is decided by both: how many are asked for shows in the sets, how many
 * are available in the pods.
 */
import type { ServerAccess } from '../../../src/client/connection/connection.ts'
import { type Deployment, type Pod, pods, type ReplicaSet, replicaSets } from '../../../src/client/kinds.ts'
import { limitsOf } from '../../../src/controllers/replicas/deployments/sizes/sizes.ts'
import { Witness } from '../witness.ts'
import { isReady } from './workloads.ts'

export interface Limits {
  /** The most pods that may be asked for, and the fewest that have to be available. */
  readonly most: number
  readonly fewest: number
}

export function limitsOfPods(deployment: Deployment): Limits {
  const { maxSurge, maxUnavailable } = limitsOf(deployment)
  const replicas = deployment.spec?.replicas ?? 1
  return {
    most: replicas + maxSurge,
    fewest: deployment.spec?.strategy?.type === 'Recreate' ? 0 : replicas - maxUnavailable,
  }
}

export class Judge {
  readonly violations: string[] = []
  most = 0
  fewest = 0
  /** Pods of two templates must not run side by side. */
  readonly #isRecreated: boolean
  readonly #witnesses: (Witness<Pod> | Witness<ReplicaSet>)[] = []

  private constructor(isRecreated: boolean) {
    this.#isRecreated = isRecreated
  }

  static async of(
    access: ServerAccess,
    namespace: string,
    { isRecreated }: { readonly isRecreated: boolean },
  ): Promise<Judge> {
    const judge = new Judge(isRecreated)
    judge.#witnesses.push(
      await Witness.of(access, pods, namespace, (name, pod, before) => judge.#judgePods(name, now(before, name, pod))),
      await Witness.of(access, replicaSets, namespace, (name, set, before) =>
        judge.#judgeSets(name, now(before, name, set)),
      ),
    )
    return judge
  }

  /**
   * Judges by other limits, when all that has happened up to now, to objects that change no more, is judged by those
   * before.
   */
  async limit({ most, fewest }: Limits): Promise<void> {
    await Promise.all(this.#witnesses.map((witness) => witness.caughtUp()))
    this.most = most
    this.fewest = fewest
  }

  /** Judges by the wider of both limits from now on. */
  widen({ most, fewest }: Limits): void {
    this.most = Math.max(this.most, most)
    this.fewest = Math.min(this.fewest, fewest)
  }

  async stop(): Promise<void> {
    await Promise.all(this.#witnesses.map((witness) => witness.stop()))
  }

  #judgeSets(at: string, sets: readonly ReplicaSet[]): void {
    const asked = sets.reduce((total, { spec }) => total + (spec?.replicas ?? 1), 0)
    const sizes = sets.map(({ metadata, spec }) => `${metadata.name}: ${spec?.replicas}`).join(', ')
    if (asked > this.most) this.violations.push(`${at}: ${asked} pods are asked for, more than ${this.most} (${sizes})`)
  }

  #judgePods(at: string, all: readonly Pod[]): void {
    const running = all.filter(({ metadata, status }) => metadata.labels?.app === 'web' && status?.phase !== 'Failed')
    const available = running.filter((pod) => !pod.metadata.deletionTimestamp && isReady(pod))
    if (available.length < this.fewest)
      this.violations.push(`${at}: ${available.length} pods are available, fewer than ${this.fewest}`)
    const templates = new Set(running.map(({ metadata }) => metadata.labels?.['pod-template-hash']))
    if (this.#isRecreated && templates.size > 1) this.violations.push(`${at}: pods of ${templates.size} templates run`)
  }
}

/** All objects as they are after a change. */
const now = <T>(before: ReadonlyMap<string, T>, name: string, object: T | undefined): readonly T[] => [
  ...[...before].flatMap(([other, unchanged]) => (other === name ? [] : [unchanged])),
  ...(object ? [object] : []),
]
