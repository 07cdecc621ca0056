/** Checks that this machine can forward in user space, without a change. */
import { systemCalls } from '../../lib/linux/system-calls.ts'

/** @throws without Linux and koffi. */
export function checkForwarder(): void {
  systemCalls()
}
