import { readFileSync } from 'node:fs'
import { isInUserNamespace } from './user-namespace.ts'

/** True if this machine's kernel has AppArmor enabled, and this process may load profiles: root of the machine. */
export function hasAppArmor(): boolean {
  if (isInUserNamespace()) return false
  try {
    return readFileSync('/sys/module/apparmor/parameters/enabled', 'utf8').startsWith('Y')
  } catch {
    return false
  }
}
