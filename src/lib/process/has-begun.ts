/** What programs that go on running do once they have begun, when nearly all that they will ever load is loaded. */
import { flushCompileCache } from 'node:module'
import { adaptFlags } from './adapt-flags.ts'
import { setFlags } from './v8-flags.ts'

/**
 * When heaps are collected, what is made old at once (nothing), and how and when code is compiled
 * (docs/decisions/0010); more is told later (adapt-flags.ts). Code caches are good only for the flags with which they
 * were made, and Node's own modules come with theirs: under these flags, everything would be compiled anew in each
 * thread.
 */
const laterFlags = [
  '--heap-growing-percent=100',
  '--no-allocation-site-pretenuring',
  // V8 collects at rest, too; so that memory goes back, it would throw away code that is only not in use just now.
  '--no-memory-reducer-favors-memory',
  '--invocation-count-for-feedback-allocation=2',
  '--invocation-count-for-maglev=200',
  '--no-turbofan',
  // How often code that is compiled is looked at again: what collections have thrown away is compiled anew then.
  '--invocation-count-for-turbofan=400',
]

/**
 * Keeps what was compiled for the next start, and sets V8's flags for the time from now on. All threads should have
 * loaded what they need.
 */
export function hasBegun(): void {
  // Such a program is killed as often as it is stopped; the cache should not wait for its end.
  flushCompileCache()
  setFlags(...laterFlags)
  adaptFlags()
}
