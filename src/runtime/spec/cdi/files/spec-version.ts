/** Versions of CDI: a spec file may not use fields that are newer than its version. */
import type { CdiSpec, ContainerEdits } from './cdi-spec.ts'

/** From the oldest. Each may use the features of those before it. */
const versions: readonly { readonly version: string; readonly isNeeded?: (spec: CdiSpec) => boolean }[] = [
  { version: '0.3.0' },
  { version: '0.4.0', isNeeded: some(({ mounts }) => mounts.some(({ type }) => type !== '')) },
  {
    version: '0.5.0',
    isNeeded: (spec) =>
      spec.devices.some(({ name }) => /^\d/.test(name)) ||
      some(({ deviceNodes }) => deviceNodes.some(({ hostPath }) => hostPath !== ''))(spec),
  },
  {
    version: '0.6.0',
    isNeeded: ({ kind, annotations, devices }) =>
      kind.slice(kind.indexOf('/')).includes('.') ||
      [annotations, ...devices.map((device) => device.annotations)].some((one) => Object.keys(one).length > 0),
  },
  {
    version: '0.7.0',
    isNeeded: some(({ intelRdt, additionalGids }) => intelRdt !== undefined || additionalGids.length > 0),
  },
  { version: '0.8.0' },
  { version: '1.0.0' },
  {
    version: '1.1.0',
    isNeeded: some(
      ({ netDevices, intelRdt }) =>
        netDevices.length > 0 || intelRdt?.schemata !== undefined || intelRdt?.enableMonitoring === true,
    ),
  },
]

function some(uses: (edits: ContainerEdits) => boolean): (spec: CdiSpec) => boolean {
  return ({ containerEdits, devices }) => [containerEdits, ...devices.map((device) => device.containerEdits)].some(uses)
}

/** Throws an Error for an unknown version, and for fields that are newer. */
export function validateVersion(spec: CdiSpec): void {
  const stated = versions.findIndex(({ version }) => version === spec.cdiVersion.replace(/^v/, ''))
  if (stated < 0) throw new Error(`invalid version ${JSON.stringify(spec.cdiVersion)}`)
  const needed = versions.findLastIndex(({ isNeeded }) => isNeeded?.(spec))
  if (needed > stated) throw new Error(`the spec version must be at least v${versions[needed]!.version}`)
}
