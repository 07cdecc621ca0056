/**
 * Shuffle sharding: each flow gets a hand of a few of many queues, so that a flow that floods its own queues shares
 * few, and seldom all, of those of another (KEP-1040, "Fair Queuing for Server Requests").
 */
import { createHash } from 'node:crypto'

/**
 * The hash of a flow, as upstream's: the first 64 bits of SHA-256 over the schema's name, a zero byte, and the
 * distinguisher.
 */
export const flowHash = (schema: string, distinguisher: string): bigint =>
  createHash('sha256').update(`${schema}\0${distinguisher}`).digest().readBigUInt64LE(0)

/** `handSize` different numbers below `deckSize`, determined by the hash, as if cards were dealt. */
export function dealHand(hash: bigint, deckSize: number, handSize: number): readonly number[] {
  const hand: number[] = []
  // Cards dealt so far, ascending.
  const dealt: number[] = []
  let rest = hash
  for (let i = 0; i < handSize; i++) {
    const remaining = BigInt(deckSize - i)
    let card = Number(rest % remaining)
    rest /= remaining
    for (const earlier of dealt) if (card >= earlier) card++
    hand.push(card)
    dealt.push(card)
    dealt.sort((a, b) => a - b)
  }
  return hand
}
