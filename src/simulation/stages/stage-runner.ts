/**
 * Takes objects of a kind through the stages of a file: a stage that matches happens after its delay, and where none
 * matches, an object goes its usual way.
 */
import type { EventType } from '../../client/events/event-recorder.ts'
import { type Node, nodes, type Pod, pods } from '../../client/kinds.ts'
import type { Resource } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { fromYaml } from '../../machinery/yaml.ts'
import type { NodeStages } from '../nodes/node-keeper.ts'
import type { PodStages } from '../pods/pod-runner.ts'
import type { ToldEvents } from '../told-events.ts'
import type { Functions } from './go-template/functions.ts'
import { render } from './go-template/render.ts'
import { nodeFunctions, podFunctions } from './simulation-functions.ts'
import type { Stage, StageAction } from './stage.ts'

export interface StageRunnerOptions {
  readonly client: RestClient
  readonly events: ToldEvents
  readonly stages: readonly Stage[]
  readonly log: (line: string) => void
  readonly now?: () => number
  readonly random?: () => number
}

/** What is under way, `waiting` for a delay that has begun, or nothing, where no stage cares. */
export type Handled = Promise<void> | 'waiting' | undefined

/** The stages of pods. */
export function podStages(options: StageRunnerOptions): PodStages {
  const { events, now = Date.now } = options
  const runner = new StageRunner<Pod>(options, pods, (pod, type, reason, message) =>
    events.ofPod(pod, type, reason, message),
  )
  return {
    handle: (pod, agent, podIPs, again) => runner.handle(pod, () => podFunctions(pod, agent, podIPs, now), again),
    forget: (uid) => runner.forget(uid),
  }
}

/** The stages of nodes. */
export function nodeStages(options: StageRunnerOptions): NodeStages {
  const { events, now = Date.now } = options
  const runner = new StageRunner<Node>(options, nodes, (node, type, reason, message) =>
    events.ofNode(node, type, reason, message),
  )
  return {
    handle: (agent, again) => runner.handle(agent.node, () => nodeFunctions(agent, now), again),
    forget: (uid) => runner.forget(uid),
  }
}

/** The stage that an object waits for, and all that it could have been. */
interface Waiting {
  readonly stage: Stage
  readonly matching: readonly Stage[]
  readonly at: number
}

class StageRunner<T extends KubeObject> {
  readonly #options: StageRunnerOptions
  readonly #resource: Resource<T>
  readonly #tell: (object: T, type: EventType, reason: string, message: string) => void
  readonly #now: () => number
  readonly #random: () => number
  readonly #waiting = new Map<string, Waiting>()
  readonly #told = new Set<string>()

  constructor(
    options: StageRunnerOptions,
    resource: Resource<T>,
    tell: (object: T, type: EventType, reason: string, message: string) => void,
  ) {
    this.#options = options
    this.#resource = resource
    this.#tell = tell
    this.#now = options.now ?? Date.now
    this.#random = options.random ?? Math.random
  }

  handle(object: T, functions: () => Functions, again: (ms: number) => void): Handled {
    const uid = object.metadata.uid ?? ''
    const now = this.#now()
    const matching = this.#options.stages.filter((stage) => stage.matches(object))
    const known = this.#waiting.get(uid)
    // What happens to it in between does not begin the delay anew, unless other stages come into question.
    const isSame =
      known && known.matching.length === matching.length && known.matching.every((stage, i) => stage === matching[i])
    const waiting = isSame ? known : this.#begin(object, matching, now)
    if (!waiting) {
      this.#waiting.delete(uid)
      return undefined
    }
    if (waiting.at > now) {
      this.#waiting.set(uid, waiting)
      again(waiting.at - now)
      return 'waiting'
    }
    this.#waiting.delete(uid)
    return this.#play(waiting.stage, object, functions())
  }

  forget(uid: string): void {
    this.#waiting.delete(uid)
  }

  #begin(object: T, matching: readonly Stage[], now: number): Waiting | undefined {
    const stage = this.#choose(object, matching)
    return stage && { stage, matching, at: now + stage.delay(object, now, this.#random) }
  }

  /** One of those that match, by their weights; where none has any, each as likely as the others. */
  #choose(object: T, matching: readonly Stage[]): Stage | undefined {
    if (matching.length < 2) return matching[0]
    const weights = matching.map((stage) => stage.weight(object))
    const whole = weights.reduce((sum, weight) => sum + weight, 0)
    if (whole === 0) return matching[Math.floor(this.#random() * matching.length)]
    let left = this.#random() * whole
    return matching.find((_, i) => (left -= weights[i]!) < 0) ?? matching.at(-1)
  }

  async #play({ name, actions }: Stage, object: T, functions: Functions): Promise<void> {
    for (const action of actions) {
      try {
        await this.#act(action, object, functions)
      } catch (error) {
        // A template that is wrong is wrong for every object: that is said once.
        if (error instanceof StatusError) throw error
        if (!this.#told.has(name))
          this.#options.log(`stage ${name} cannot be played: ${error instanceof Error ? error.message : String(error)}`)
        this.#told.add(name)
      }
    }
  }

  async #act(action: StageAction, object: T, functions: Functions): Promise<void> {
    const { client } = this.#options
    const { namespace = '', name = '', uid, finalizers = [] } = object.metadata
    switch (action.kind) {
      case 'event':
        this.#tell(object, action.type, action.reason, render(action.message, object, functions))
        return
      case 'delete':
        await client.delete(this.#resource, namespace, name, { uid, gracePeriodSeconds: 0 })
        return
      case 'finalizers': {
        const kept = action.empty ? [] : finalizers.filter((finalizer) => !action.remove.includes(finalizer))
        const wanted = [...new Set([...kept, ...action.add])]
        await client.patch(
          this.#resource,
          namespace,
          name,
          { metadata: { uid, finalizers: wanted.length > 0 ? wanted : null } },
          'merge',
        )
        return
      }
      case 'patch': {
        const value = fromYaml(render(action.template, object, functions)) as object | undefined
        if (!value) return
        const { metadata, ...patch }: { readonly metadata?: object } = action.root ? { [action.root]: value } : value
        const body = action.type === 'json' ? value : { ...patch, metadata: { ...metadata, uid } }
        await client.patch(this.#resource, namespace, name, body, action.type, action.subresource)
        return
      }
      default:
        action satisfies never
    }
  }
}
