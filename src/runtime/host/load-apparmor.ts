/** Loads the runtime's AppArmor profile into the kernel. */
import { hasAppArmor } from '../../lib/linux/has-apparmor.ts'
import type { Log } from '../../lib/log/log.ts'
import { messageOf } from '../../lib/message-of.ts'
import { defaultProfile, defaultProfileName } from '../spec/apparmor/default-profile.ts'
import type { AppArmor } from '../spec/apparmor/profile.ts'
import { textOf } from './processes.ts'
import { succeed } from './run-program.ts'

/** All loaded profiles, a line each: `NAME (MODE)`. */
const loadedProfiles = '/sys/kernel/security/apparmor/profiles'

function mayHave(name: string): boolean {
  const text = textOf(loadedProfiles)
  return text === '' || text.split('\n').some((line) => line.startsWith(`${name} (`))
}

/** Undefined if the kernel has no AppArmor. Logs why the default profile cannot be loaded. */
export async function loadAppArmor(log: Log): Promise<AppArmor | undefined> {
  if (!hasAppArmor()) return undefined
  try {
    await succeed('apparmor_parser', ['--replace', '--skip-cache'], { input: defaultProfile })
    return { defaultProfile: defaultProfileName, mayHave }
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'apparmor_parser is missing' : messageOf(error)
    log(
      `containers have no default profile of AppArmor: ${reason.replaceAll('\n', ' ')}; install the package apparmor`,
      'warning',
    )
    return { defaultProfile: undefined, mayHave }
  }
}
