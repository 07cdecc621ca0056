/**
 * Stages of pods and nodes, compatible with kwok's `Stage` (kwok.x-k8s.io/v1alpha1): when they apply, after which
 * delay, and what they do.
 */
import type { KubeObject } from '../../machinery/object.ts'
import { parseLabelSelector } from '../../machinery/selectors/label-selector.ts'
import { fromYaml } from '../../machinery/yaml.ts'
import { parseTemplate, type Template } from './go-template/parse.ts'
import { type PathExpression, parsePathExpression } from './path-expression.ts'

export interface Stage {
  readonly name: string
  readonly matches: (object: KubeObject) => boolean
  /** In ms, from the time it matches. */
  readonly delay: (object: KubeObject, now: number, random: () => number) => number
  readonly weight: (object: KubeObject) => number
  readonly actions: readonly StageAction[]
}

export type StageAction =
  | {
      readonly kind: 'patch'
      readonly template: Template
      readonly root: string
      readonly subresource: string
      readonly type: 'merge' | 'strategic' | 'json'
    }
  | { readonly kind: 'event'; readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: Template }
  | {
      readonly kind: 'finalizers'
      readonly add: readonly string[]
      readonly remove: readonly string[]
      readonly empty: boolean
    }
  | { readonly kind: 'delete' }

/** An expression in the old and new format of kwok. */
interface FromExpression {
  readonly expressionFrom?: string
  readonly jq?: { readonly expression?: string }
}

interface MatchExpression {
  readonly key?: string
  readonly operator?: string
  readonly values?: readonly string[]
  readonly jq?: { readonly key?: string; readonly operator?: string; readonly values?: readonly string[] }
  readonly cel?: object
}

interface PatchSpec {
  readonly template?: string
  readonly root?: string
  readonly subresource?: string
  readonly type?: string
}

interface NextSpec {
  readonly statusTemplate?: string
  readonly statusSubresource?: string
  readonly patches?: readonly PatchSpec[]
  readonly patch?: PatchSpec
  readonly event?: { readonly type?: string; readonly reason?: string; readonly message?: string }
  readonly finalizers?: {
    readonly add?: readonly { value: string }[]
    readonly remove?: readonly { value: string }[]
    readonly empty?: boolean
  }
  readonly delete?: boolean | object
  readonly apply?: object
}

/** The stages of a file, by kind. */
export interface Stages {
  readonly pods: readonly Stage[]
  readonly nodes: readonly Stage[]
  /** The names of stages of other kinds, which are ignored. */
  readonly others: readonly string[]
}

interface StageDocument extends KubeObject {
  readonly spec?: {
    readonly resourceRef?: { readonly apiGroup?: string; readonly kind?: string }
    readonly selector?: {
      readonly matchLabels?: Record<string, string>
      readonly matchAnnotations?: Record<string, string>
      readonly matchExpressions?: readonly MatchExpression[]
    }
    readonly delay?: {
      readonly durationMilliseconds?: number
      readonly durationFrom?: FromExpression
      readonly jitterDurationMilliseconds?: number
      readonly jitterDurationFrom?: FromExpression
    }
    readonly next?: NextSpec
    readonly steps?: readonly NextSpec[]
    readonly weight?: number
    readonly weightFrom?: FromExpression
  }
}

/** Parses the stages of a file. Throws an Error with the stage and the reason. */
export function parseStages(text: string): Stages {
  const documents = text
    .split(/^---(?:[ \t].*)?$/m)
    .map((part) => fromYaml(part) as StageDocument | null | undefined)
    .filter((document) => document !== null && document !== undefined)
  const stages: { readonly Pod: Stage[]; readonly Node: Stage[] } = { Pod: [], Node: [] }
  const others: string[] = []
  for (const document of documents) {
    const name = document.metadata?.name ?? ''
    if (document.kind !== 'Stage' || document.apiVersion !== 'kwok.x-k8s.io/v1alpha1')
      throw new Error(`${document.kind} ${name} must be of kind: Stage, apiVersion: kwok.x-k8s.io/v1alpha1`)
    const { kind } = document.spec?.resourceRef ?? {}
    if (kind !== 'Pod' && kind !== 'Node') {
      others.push(`${name} (${kind})`)
      continue
    }
    try {
      stages[kind].push(stageOf(name, document))
    } catch (error) {
      throw new Error(`stage ${name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return { pods: stages.Pod, nodes: stages.Node, others }
}

function stageOf(name: string, { spec = {} }: StageDocument): Stage {
  const { selector, delay = {}, weight = 0 } = spec
  const labels = parseLabelSelector(equalities(selector?.matchLabels))
  const annotations = Object.entries(selector?.matchAnnotations ?? {})
  const expressions = (selector?.matchExpressions ?? []).map(expressionOf)
  const [duration, jitter, weightFrom] = [delay.durationFrom, delay.jitterDurationFrom, spec.weightFrom].map(
    expressionFrom,
  )
  const steps = [...(spec.next ? [spec.next] : []), ...(spec.steps ?? [])]
  return {
    name,
    // As kwok: a stage without a selector matches nothing.
    matches: (object) =>
      selector !== undefined &&
      labels.matches(object.metadata.labels) &&
      annotations.every(([key, value]) => object.metadata.annotations?.[key] === value) &&
      expressions.every((holds) => holds(object)),
    delay(object, now, random) {
      const min = durationMs(duration?.(object)[0], now) ?? delay.durationMilliseconds ?? 0
      // As kwok: a jitter below the delay replaces it, so that a deletion is never delayed beyond its grace period.
      const max = durationMs(jitter?.(object)[0], now) ?? delay.jitterDurationMilliseconds ?? min
      return Math.max(0, max > min ? min + random() * (max - min) : max)
    },
    weight: (object) => Math.max(0, Number(weightFrom?.(object)[0] ?? weight) || 0),
    actions: steps.flatMap(actionsOf),
  }
}

const equalities = (labels: Record<string, string> = {}): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join()

const expressionFrom = (from: FromExpression | undefined): PathExpression | undefined => {
  const text = from?.expressionFrom ?? from?.jq?.expression
  return text === undefined ? undefined : parsePathExpression(text)
}

function expressionOf(expression: MatchExpression): (object: KubeObject) => boolean {
  if (expression.cel) throw new Error('cel expressions are not supported: use key, operator and values')
  const { key = '', operator = '', values = [] } = expression.jq ?? expression
  const find = parsePathExpression(key)
  const isListed = (object: KubeObject): boolean => find(object).some((value) => values.includes(String(value)))
  switch (operator) {
    case 'In':
      return isListed
    case 'NotIn':
      return (object) => !isListed(object)
    case 'Exists':
      return (object) => find(object).length > 0
    case 'DoesNotExist':
      return (object) => find(object).length === 0
    default:
      throw new Error(`the operator ${JSON.stringify(operator)} must be In, NotIn, Exists or DoesNotExist`)
  }
}

const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

/** Parses `5s`, or a point in time. */
function durationMs(value: unknown, now: number): number | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  const parts = [...value.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)]
  if (parts.length > 0 && parts.map(([whole]) => whole).join('') === value)
    return parts.reduce((sum, [, amount, unit = '']) => sum + Number(amount) * (units[unit] ?? 0), 0)
  const time = Date.parse(value)
  return Number.isNaN(time) ? undefined : time - now
}

function actionsOf({
  statusTemplate,
  statusSubresource = 'status',
  patches = [],
  patch,
  event,
  finalizers,
  delete: deletes,
  apply,
}: NextSpec): StageAction[] {
  if (apply) throw new Error('apply is not supported: a stage can only change its own object')
  const actions: StageAction[] = []
  if (event) {
    const { type, reason = '', message = '' } = event
    actions.push({
      kind: 'event',
      type: type === 'Warning' ? 'Warning' : 'Normal',
      reason,
      message: parseTemplate(message),
    })
  }
  if (finalizers) {
    const names = (list: readonly { value: string }[] = []): string[] => list.map(({ value }) => value)
    actions.push({
      kind: 'finalizers',
      add: names(finalizers.add),
      remove: names(finalizers.remove),
      empty: finalizers.empty ?? false,
    })
  }
  if (deletes) return [...actions, { kind: 'delete' }]
  if (statusTemplate)
    actions.push(patchOf({ template: statusTemplate, root: 'status', subresource: statusSubresource }))
  return [...actions, ...[...patches, ...(patch ? [patch] : [])].map(patchOf)]
}

function patchOf({ template = '', root = '', subresource = '', type = 'strategic' }: PatchSpec): StageAction {
  if (type !== 'merge' && type !== 'strategic' && type !== 'json')
    throw new Error(`unknown patch type ${JSON.stringify(type)}: use json, merge or strategic`)
  return { kind: 'patch', template: parseTemplate(template), root, subresource, type }
}
