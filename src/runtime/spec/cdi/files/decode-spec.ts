/** Decodes spec files, which are YAML or JSON. */
import { parseYaml, strictWarnings } from '../../../../machinery/yaml.ts'
import type {
  CdiDevice,
  CdiHook,
  CdiMount,
  CdiSpec,
  ContainerEdits,
  DeviceNode,
  IntelRdt,
  NetDevice,
} from './cdi-spec.ts'
import { boolean, integer, listOf, objectOf, optional, text, textMap, unsigned } from './readers.ts'
import { validateSpec } from './validate-spec.ts'

const containerEdits = objectOf<ContainerEdits>({
  env: listOf(text),
  deviceNodes: listOf(
    objectOf<DeviceNode>({
      path: text,
      hostPath: text,
      type: text,
      major: integer,
      minor: integer,
      fileMode: optional(unsigned),
      permissions: text,
      uid: optional(unsigned),
      gid: optional(unsigned),
    }),
  ),
  mounts: listOf(objectOf<CdiMount>({ hostPath: text, containerPath: text, type: text, options: listOf(text) })),
  hooks: listOf(
    objectOf<CdiHook>({
      hookName: text,
      path: text,
      args: listOf(text),
      env: listOf(text),
      timeout: optional(integer),
    }),
  ),
  additionalGids: listOf(unsigned),
  netDevices: listOf(objectOf<NetDevice>({ hostInterfaceName: text, name: text })),
  intelRdt: optional(
    objectOf<IntelRdt>({
      closID: text,
      l3CacheSchema: text,
      memBwSchema: text,
      schemata: optional(listOf(text)),
      enableMonitoring: boolean,
    }),
  ),
})

const spec = objectOf<CdiSpec>({
  cdiVersion: text,
  kind: text,
  annotations: textMap,
  devices: listOf(objectOf<CdiDevice>({ name: text, annotations: textMap, containerEdits })),
  containerEdits,
})

/** Throws an Error for a document that is not a valid spec. */
export function decodeSpec(document: string): CdiSpec {
  const { value, strict } = parseYaml(document)
  const [repeated] = strictWarnings(strict)
  if (repeated !== undefined) throw new Error(repeated)
  const decoded = spec(value, '')
  validateSpec(decoded)
  return decoded
}
