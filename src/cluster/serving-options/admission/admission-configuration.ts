/**
 * The file of `--admission-control-config-file`: an AdmissionConfiguration with the configuration of each plugin, or
 * the path of its file.
 */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import { goQuote } from '../../../lib/go/go-quote.ts'
import {
  anything,
  decodeConfiguration,
  listOf,
  structOf,
  text,
  UnknownKindError,
} from '../../../machinery/decode/configuration.ts'
import { parseYaml, YamlError } from '../../../machinery/yaml.ts'

interface AdmissionConfiguration {
  readonly plugins?: readonly { readonly name?: string; readonly path?: string; readonly configuration?: unknown }[]
}

const admissionConfiguration = {
  kind: 'AdmissionConfiguration',
  versions: ['apiserver.config.k8s.io/v1', 'apiserver.k8s.io/v1alpha1'],
  fields: {
    plugins: listOf(structOf('AdmissionPluginConfiguration', { name: text, path: text, configuration: anything })),
  },
}

/** Before AdmissionConfiguration existed, the file configured one of these plugins, identified by the field. */
const unversioned: Readonly<Record<string, string>> = {
  imagePolicy: 'ImagePolicyWebhook',
  podNodeSelectorPluginConfig: 'PodNodeSelector',
}

/**
 * Returns the configurations by plugin, parsed from YAML or JSON. Of two entries for a plugin the first one counts.
 * Relative paths are resolved against the folder of the file. Throws an ExplainedError that names the file.
 */
export function readAdmissionConfiguration(file: string): Readonly<Record<string, unknown>> {
  const value = readFile(
    file,
    (reason) => `unable to read admission control configuration from ${goQuote(file)} [${reason}]`,
  )
  const configurations: Record<string, unknown> = {}
  for (const { name = '', path, configuration } of pluginsOf(value, file)) {
    if (Object.hasOwn(configurations, name)) continue
    const own = path && resolve(dirname(file), path)
    configurations[name] =
      configuration ??
      (own &&
        readFile(
          own,
          (reason) =>
            `couldn't open admission plugin configuration ${own}: ${reason}; check plugin ${goQuote(name)} in ${file}`,
        ))
  }
  return configurations
}

function pluginsOf(value: unknown, file: string): NonNullable<AdmissionConfiguration['plugins']> {
  try {
    return decodeConfiguration<AdmissionConfiguration>(value, admissionConfiguration).plugins ?? []
  } catch (error) {
    if (error instanceof UnknownKindError && typeof value === 'object' && value !== null) {
      const old = Object.keys(unversioned).filter((field) => Object.hasOwn(value, field))
      if (old.length > 0) return old.map((field) => ({ name: unversioned[field], configuration: value }))
    }
    throw new ExplainedError(`${file}: ${reasonOf(error)}`, { cause: error })
  }
}

function readFile(file: string, message: (reason: string) => string): unknown {
  try {
    const { value, strict } = parseYaml(readFileSync(file, 'utf8'))
    if (strict.length > 0) throw new YamlError(strict.join(', '))
    return value ?? undefined
  } catch (error) {
    throw new ExplainedError(error instanceof YamlError ? `${file}: ${error.message}` : message(reasonOf(error)), {
      cause: error,
    })
  }
}
