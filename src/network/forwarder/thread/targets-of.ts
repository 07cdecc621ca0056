/** The targets of a client. */
import { rangeHas } from '../../../lib/cidr.ts'
import type { Listener, Target } from '../listener.ts'

export const targetsOf = ({ inside, targets }: Listener, client: string): readonly Target[] =>
  inside?.ranges.some((range) => rangeHas(range, client)) ? inside.targets : targets
