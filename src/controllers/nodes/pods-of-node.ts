/** The index of pods by the node that they are bound to. */
import type { Pod } from '../../client/kinds.ts'

export const byNode = ({ spec }: Pod): Iterable<string> => (spec?.nodeName ? [spec.nodeName] : [])
