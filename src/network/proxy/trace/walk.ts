/** Walks a packet through rules, and records each rule that it meets. Where rules choose at random, it follows all. */
import { type IsLocal, keyOf, matchOf, type Packet } from './conditions.ts'
import type { Action, Chain, Hook, Rule, Ruleset } from './rules/ruleset.ts'

/** A rule that the packet meets. */
export interface Step {
  readonly ruleset: Ruleset
  readonly chain: Chain
  readonly rule: Rule
  /** The action that is carried out, also of a map. */
  readonly action: Action | undefined
  /** Chains between the kernel and this one. */
  readonly depth: number
  /** The part of the packets that come here, from 0 to 1. */
  readonly probability: number
  /** Met only by clients that used the endpoint before. */
  readonly affinitySeconds?: number | undefined
  readonly isAffine: boolean
  /** A condition that the trace cannot decide; it goes on as if the rule did not exist. */
  readonly unknown?: string
}

/** The state in which a part of the packets leaves a hook. */
export interface Way {
  readonly packet: Packet
  readonly probability: number
  readonly end: 'continues' | 'dropped' | 'rejected' | 'unknown'
  /** The chain, or its policy, that ended it. */
  readonly endedBy?: { readonly ruleset: Ruleset; readonly chain: Chain; readonly rule: Rule | undefined }
}

/** Which chains of a hook to walk, by priority: those before, or after the translation of destinations. */
export interface HookPart {
  readonly hook: Hook
  readonly from: number
  readonly to: number
}

/** Deeper jumps are a loop, which the kernel refuses. */
const longestWay = 64

type Next = (packet: Packet, probability: number) => void

interface Position {
  readonly ruleset: Ruleset
  readonly chain: Chain
  readonly depth: number
  /** After the last rule, and after `return`. */
  readonly atEnd: Next
  /** After `accept`, and translations. */
  readonly accepted: Next
}

export interface Walk {
  readonly steps: readonly Step[]
  readonly ways: readonly Way[]
}

/** @example walkHook(rulesets, { hook: 'forward', from: -1000, to: 1000 }, packet, isLocal).ways */
export function walkHook(rulesets: readonly Ruleset[], part: HookPart, packet: Packet, isLocal: IsLocal): Walk {
  const walker = new Walker(isLocal)
  const chains = rulesets
    .flatMap((ruleset) => [...ruleset.chains.values()].map((chain) => ({ ruleset, chain })))
    .filter(({ chain: { hook } }) => hook?.name === part.hook && hook.priority >= part.from && hook.priority <= part.to)
    .sort((a, b) => a.chain.hook!.priority - b.chain.hook!.priority)
  walker.walkBaseChains(chains, packet, 1)
  return walker
}

class Walker implements Walk {
  readonly steps: Step[] = []
  readonly ways: Way[] = []
  readonly #isLocal: IsLocal

  constructor(isLocal: IsLocal) {
    this.#isLocal = isLocal
  }

  walkBaseChains(
    [first, ...rest]: readonly { readonly ruleset: Ruleset; readonly chain: Chain }[],
    packet: Packet,
    probability: number,
  ): void {
    if (!first) {
      this.ways.push({ packet, probability, end: 'continues' })
      return
    }
    const next: Next = (after, part) => this.walkBaseChains(rest, after, part)
    const { ruleset, chain } = first
    const atEnd: Next = chain.hook?.isDroppedAtEnd
      ? (after, part) =>
          this.ways.push({ packet: after, probability: part, end: 'dropped', endedBy: { ...first, rule: undefined } })
      : next
    this.#walkRules({ ruleset, chain, depth: 0, atEnd, accepted: next }, 0, packet, probability)
  }

  /** Walks the rules from an index on. */
  #walkRules(position: Position, index: number, packet: Packet, probability: number): void {
    let rest = probability
    for (let i = index; i < position.chain.rules.length; i++) {
      const rule = position.chain.rules[i]!
      const match = matchOf(rule.conditions, packet, this.#isLocal)
      if (match.kind === 'unknown') this.#record(position, rule, rest, { unknown: match.text })
      else if (match.kind === 'affinity') this.#record(position, rule, rest, { seconds: match.seconds, isAffine: true })
      else if (match.value > 0) {
        const part = rest * match.value
        this.#record(position, rule, part, {})
        this.#act(position, rule, i, 0, packet, part)
        if (match.value === 1) return
        rest -= part
      }
    }
    position.atEnd(packet, rest)
  }

  #record(
    { ruleset, chain, depth }: Position,
    rule: Rule,
    probability: number,
    more: { readonly unknown?: string; readonly seconds?: number | undefined; readonly isAffine?: boolean },
  ): void {
    const { unknown, seconds, isAffine = false } = more
    const action = rule.actions.at(-1)
    const step = { ruleset, chain, rule, action, depth, probability, affinitySeconds: seconds, isAffine }
    this.steps.push(unknown === undefined ? step : { ...step, unknown })
  }

  /** Carries out the actions of a rule from an index on, and then walks the next rules. */
  #act(position: Position, rule: Rule, index: number, first: number, packet: Packet, probability: number): void {
    const action = rule.actions[first]
    const next: Next = (after, part) => this.#act(position, rule, index, first + 1, after, part)
    if (action) this.#carryOut(action, { ...position, rule, index, next }, packet, probability)
    else this.#walkRules(position, index + 1, packet, probability)
  }

  #carryOut(
    action: Action,
    at: Position & { readonly rule: Rule; readonly index: number; readonly next: Next },
    packet: Packet,
    probability: number,
  ): void {
    switch (action.kind) {
      case 'jump':
      case 'goto':
        this.#enter(action.chain, { ...at, atEnd: action.kind === 'jump' ? at.next : at.atEnd }, packet, probability)
        break
      case 'accept':
        at.accepted(packet, probability)
        break
      case 'return':
        at.atEnd(packet, probability)
        break
      case 'masquerade':
        at.accepted({ ...packet, isMasqueraded: true }, probability)
        break
      case 'dnat':
        at.accepted(
          { ...packet, destination: action.address, port: action.port ?? packet.port, isTranslated: true },
          probability,
        )
        break
      case 'mark':
        at.next({ ...packet, mark: ((packet.mark & ~action.clear) ^ action.flip) >>> 0 }, probability)
        break
      case 'lookup':
      case 'choose':
        for (const [chosen, part] of choicesOf(action, packet)) {
          if (!chosen) at.next(packet, probability * part)
          else {
            const { ruleset, chain, rule, depth } = at
            const step = { ruleset, chain, rule, action: chosen, depth, probability: probability * part }
            this.steps.push({ ...step, isAffine: false })
            this.#carryOut(chosen, at, packet, probability * part)
          }
        }
        break
      default:
        this.#end(action.kind, at, packet, probability)
    }
  }

  #enter(name: string, at: Position & { readonly rule: Rule }, packet: Packet, probability: number): void {
    const chain = at.ruleset.chains.get(name)
    if (!chain || at.depth > longestWay) this.#end('unknown', at, packet, probability)
    else this.#walkRules({ ...at, chain, depth: at.depth + 1 }, 0, packet, probability)
  }

  #end(
    kind: 'drop' | 'reject' | 'unknown',
    { ruleset, chain, rule }: Position & { readonly rule: Rule },
    packet: Packet,
    probability: number,
  ): void {
    const end = kind === 'drop' ? 'dropped' : kind === 'reject' ? 'rejected' : 'unknown'
    this.ways.push({ packet, probability, end, endedBy: { ruleset, chain, rule } })
  }
}

/** The actions of a map for the packet, with their probabilities. Undefined: the map has none. */
function choicesOf(
  action: Extract<Action, { readonly kind: 'lookup' | 'choose' }>,
  packet: Packet,
): readonly (readonly [Action | undefined, number])[] {
  if (action.kind === 'lookup') return [[action.entries.get(keyOf(action.key, packet)), 1]]
  return action.choices.map((choice) => [choice, 1 / action.choices.length])
}
