/** Reads KubeletConfigurations: decodes them strictly, fills in upstream's defaults, and validates them. */
import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { decodeConfiguration } from '../../machinery/decode/configuration.ts'
import { parseYaml, YamlError } from '../../machinery/yaml.ts'
import type { KubeletConfiguration } from './defaults.ts'
import { kubeletConfiguration, type WrittenConfiguration } from './shape.ts'
import { configurationFaults } from './validation.ts'

export type { KubeletConfiguration } from './defaults.ts'

/** Reads a file of YAML or JSON. Paths in it are relative to its folder. Throws an ExplainedError that names it. */
export function readConfigurationFile(file: string): WrittenConfiguration {
  try {
    return withAbsolutePaths(decodeWritten(readDocument(file)), dirname(file))
  } catch (error) {
    throw new ExplainedError(`${file}: ${reasonOf(error)}`, { cause: error })
  }
}

/** Reads a file of YAML or JSON without decoding it. Throws a YamlError. */
export function readDocument(file: string): unknown {
  const { value, strict } = parseYaml(readFileSync(file, 'utf8'))
  if (strict.length > 0) throw new YamlError(strict.join(', '))
  return value
}

/** Throws an Error that names unknown and wrong fields. */
export function decodeWritten(value: unknown): WrittenConfiguration {
  const {
    kind: _kind,
    apiVersion: _version,
    ...written
  } = decodeConfiguration<WrittenConfiguration & { kind?: string; apiVersion?: string }>(value, kubeletConfiguration)
  return Object.fromEntries(Object.entries(written).filter(([, field]) => field !== undefined))
}

/** Throws an Error with all faults found, in upstream's words. */
export function checkConfiguration(configuration: KubeletConfiguration): void {
  const faults = configurationFaults(configuration)
  if (faults.length > 0) throw new Error(`invalid configuration: ${faults.join(', ')}`)
}

/** The fields that are paths of the node. */
const pathFields = [
  'staticPodPath',
  'podLogsDir',
  'tlsCertFile',
  'tlsPrivateKeyFile',
  'resolvConf',
  'volumePluginDir',
] as const

function withAbsolutePaths(written: WrittenConfiguration, folder: string): WrittenConfiguration {
  const absolute = (path: string): string => (path && !isAbsolute(path) ? join(folder, path) : path)
  const paths = pathFields.flatMap((name) => {
    const path = written[name]
    return path === undefined ? [] : [[name, absolute(path)] as const]
  })
  const { authentication } = written
  const ca = authentication?.x509?.clientCAFile
  return {
    ...written,
    ...Object.fromEntries(paths),
    ...(ca && { authentication: { ...authentication, x509: { clientCAFile: absolute(ca) } } }),
  }
}
