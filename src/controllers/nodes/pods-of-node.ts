/** Index function: pods by node. */
import type { Pod } from '../../client/kinds.ts'

export const byNode = ({ spec }: Pod): Iterable<string> => (spec?.nodeName ? [spec.nodeName] : [])
