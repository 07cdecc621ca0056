/** The AppArmor profile of a container: the runtime's own, one that is loaded in the kernel, or none. */
import { SecurityProfile_ProfileType as ProfileType, type SecurityProfile } from '#protobuf/cri-values_pb.js'

/** The AppArmor of a machine. */
export interface AppArmor {
  /** The name of the runtime's own profile; undefined if it could not be loaded. */
  readonly defaultProfile: string | undefined
  /** False if the kernel certainly has no profile of that name. */
  readonly mayHave: (name: string) => boolean
}

export interface AppArmorRequest {
  readonly isPrivileged: boolean
  readonly profile: SecurityProfile | undefined
  /** The field of CRI before `profile`: `runtime/default`, `unconfined`, `localhost/NAME`, or nothing. */
  readonly legacyProfile: string
}

/**
 * The name of the profile; undefined for none. `machine` is undefined without AppArmor. Throws an Error for a profile
 * that the machine does not have. A container that asks for nothing gets the default, unless it is privileged.
 */
export function appArmorProfileOf(request: AppArmorRequest, machine: AppArmor | undefined): string | undefined {
  const { type, name } = wantedOf(request)
  if (!machine) {
    if (type === undefined || type === ProfileType.Unconfined) return undefined
    throw new Error('failed to generate apparmor spec opts: apparmor is not supported')
  }
  if (type === ProfileType.Unconfined) return undefined
  if (type === undefined || type === ProfileType.RuntimeDefault)
    return request.isPrivileged ? undefined : machine.defaultProfile
  if (!machine.mayHave(name))
    throw new Error(`failed to generate apparmor spec opts: apparmor profile not found ${name}`)
  return name
}

function wantedOf({ profile, legacyProfile }: AppArmorRequest) {
  const nameIn = (text: string): string => text.replace(/^localhost\//, '')
  if (profile) return { type: profile.profileType, name: nameIn(profile.localhostRef) }
  if (legacyProfile === '') return { type: undefined, name: '' }
  if (legacyProfile === 'runtime/default') return { type: ProfileType.RuntimeDefault, name: '' }
  if (legacyProfile === 'unconfined') return { type: ProfileType.Unconfined, name: '' }
  return { type: ProfileType.Localhost, name: nameIn(legacyProfile) }
}
