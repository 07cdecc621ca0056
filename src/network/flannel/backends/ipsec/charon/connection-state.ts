/** The states of connections from messages of the command `list-sas`. */
import type { ViciSection, ViciValue } from '../vici/vici-message.ts'

/** `established`: both nodes trust each other, but no packets are encrypted yet. */
export type ConnectionState = 'missing' | 'connecting' | 'established' | 'connected'

const ranks: readonly ConnectionState[] = ['missing', 'connecting', 'established', 'connected']

/** The best state of each connection, by its name: both nodes may have started one. */
export function connectionStates(messages: readonly ViciSection[]): ReadonlyMap<string, ConnectionState> {
  const states = new Map<string, ConnectionState>()
  for (const [name, association] of messages.flatMap((message) => Object.entries(message))) {
    const state = stateOf(sectionOf(association))
    if (ranks.indexOf(state) > ranks.indexOf(states.get(name) ?? 'missing')) states.set(name, state)
  }
  return states
}

function stateOf(association: ViciSection): ConnectionState {
  const children = Object.values(sectionOf(association['child-sas'] ?? {})).map(sectionOf)
  // A child that is replaced still encrypts.
  if (children.some(({ state }) => state === 'INSTALLED' || state === 'REKEYING')) return 'connected'
  if (association.state === 'ESTABLISHED' || association.state === 'REKEYING') return 'established'
  return association.state === 'CONNECTING' || association.state === 'CREATED' ? 'connecting' : 'missing'
}

const sectionOf = (value: ViciValue): ViciSection => (typeof value === 'string' || isList(value) ? {} : value)

const isList = (value: ViciValue): value is readonly string[] => Array.isArray(value)
