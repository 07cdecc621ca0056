/** Validation of Windows options: user names, GMSA credentials and HostProcess containers. */
import { type FieldError, invalidValue } from '../../../../machinery/validation/field-error.ts'
import { all, follows, valid } from '../../../../machinery/validation/field-rules.ts'
import { dnsSubdomain } from '../../../../machinery/validation/names.ts'
import type { Container, EphemeralContainer, PodSpec } from '../model.ts'

type WindowsOptions = NonNullable<NonNullable<Container['securityContext']>['windowsOptions']>

const maxSpecKiB = 64
const maxDomain = 256
const maxUser = 104
const netBiosDomain = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/
const domainLabel = '[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?'
const dnsDomain = new RegExp(`^${domainLabel}(\\.${domainLabel})*$`)

/** Validates `windowsOptions` of a pod or a container. */
export function windowsOptions(options: WindowsOptions | undefined, path: string): readonly FieldError[] {
  if (!options) return valid
  const { gmsaCredentialSpecName: name, gmsaCredentialSpec: credentials, runAsUserName: user } = options
  return all(
    follows(name, `${path}.gmsaCredentialSpecName`, dnsSubdomain),
    credentials === ''
      ? [invalidValue(`${path}.gmsaCredentialSpec`, '', 'gmsaCredentialSpec cannot be an empty string')]
      : credentials !== undefined && Buffer.byteLength(credentials) > maxSpecKiB * 1024
        ? [
            invalidValue(
              `${path}.gmsaCredentialSpec`,
              credentials,
              `gmsaCredentialSpec size must be under ${maxSpecKiB} KiB`,
            ),
          ]
        : valid,
    user === undefined
      ? valid
      : userNameFaults(user).map((fault) => invalidValue(`${path}.runAsUserName`, user, `runAsUserName${fault}`)),
  )
}

/** Validates `DOMAIN\user`, or the user only. */
function userNameFaults(name: string): string[] {
  if (name === '') return [' cannot be an empty string']
  if (/\p{Cc}/u.test(name)) return [' cannot contain control characters']
  const parts = name.split('\\')
  if (parts.length > 2) return [' cannot contain more than one backslash']
  const user = parts.at(-1) ?? ''
  const domain = parts.length === 2 ? parts[0] : undefined
  const faults: string[] = []
  if (domain !== undefined) {
    if (domain.length >= maxDomain) faults.push(`'s Domain length must be under ${maxDomain} characters`)
    if (!netBiosDomain.test(domain) && !dnsDomain.test(domain))
      faults.push("'s Domain doesn't match the NetBios nor the DNS format")
  }
  if (user === '') faults.push("'s User cannot be empty")
  else if (user.length > maxUser) faults.push(`'s User length must not be longer than ${maxUser} characters`)
  if (/^[. ]+$/.test(user)) faults.push("'s User cannot contain only periods or spaces")
  if (/["/\\:;|=,+*?<>@[\]]/.test(user))
    faults.push(`'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]`)
  return faults
}

/** Requires hostProcess in all containers or none, and hostNetwork with it. */
export function hostProcesses(spec: PodSpec, path: string): readonly FieldError[] {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess
  const errors: FieldError[] = []
  let containers = 0
  let onHost = 0
  const visit = (list: readonly (Container | EphemeralContainer)[] | undefined, field: string): void =>
    list?.forEach(({ securityContext }, i) => {
      containers++
      const own = securityContext?.windowsOptions?.hostProcess
      if (own ?? ofPod) onHost++
      if (own !== undefined && ofPod !== undefined && own !== ofPod)
        errors.push(
          invalidValue(
            `${path}.${field}[${i}].securityContext.windowsOptions.hostProcess`,
            own,
            `pod hostProcess value must be identical if both are specified, was ${ofPod}`,
          ),
        )
    })
  visit(spec.initContainers, 'initContainers')
  visit(spec.containers, 'containers')
  visit(spec.ephemeralContainers, 'ephemeralContainers')
  if (onHost === 0) return errors
  if (onHost !== containers)
    errors.push(
      invalidValue(
        path,
        '',
        'If pod contains any hostProcess containers then all containers must be HostProcess containers',
      ),
    )
  if (!spec.hostNetwork)
    errors.push(
      invalidValue(`${path}.hostNetwork`, false, 'hostNetwork must be true if pod contains any hostProcess containers'),
    )
  return errors
}
