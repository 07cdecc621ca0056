/**
 * Whether one of the server's own objects is as it should be. What is mandatory is put right always; what is suggested
 * only while nobody has changed its spec, or its annotation says so.
 */
import {
  autoUpdateAnnotation,
  type FlowSchema,
  type PriorityLevelConfiguration,
} from '../../../api/flowcontrol/bootstrap-objects.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'

/** What of an object to put right. */
export interface Revision<Spec> {
  readonly annotation: 'true' | 'false'
  /** Absent where the spec stays as it is. */
  readonly spec?: Spec
}

type Kept = FlowSchema | PriorityLevelConfiguration

const truths: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false] as const),
])

/** As Go reads a truth value. */
export const isTrue = (text: string | undefined): boolean => text !== undefined && truths.get(text) === true

/** Undefined for an object that is as it should be. */
export function revision<T extends Kept>(live: T, wanted: T, mandatory: boolean): Revision<T['spec']> | undefined {
  const text = live.metadata.annotations?.[autoUpdateAnnotation]
  const said = text === undefined ? undefined : truths.get(text)
  const updates = mandatory || (said ?? live.metadata.generation === 1)
  const changed = updates && !isAsWanted(live, wanted)
  if (!changed && said === updates) return undefined
  return { annotation: updates ? 'true' : 'false', ...(changed && { spec: wanted.spec }) }
}

/** How many seats the exempt level lends is for administrators to say. */
function isAsWanted(live: Kept, wanted: Kept): boolean {
  if (live.kind === 'PriorityLevelConfiguration' && live.metadata.name === 'exempt')
    return live.spec && 'type' in live.spec ? live.spec.type === 'Exempt' : false
  return semanticallyEqual(live.spec, wanted.spec)
}
