/** The result of an instruction that may change files. */
import type { CachedLayer } from '../layers/build-cache.ts'

export interface StepResult {
  readonly result: CachedLayer
  readonly isCached: boolean
}
