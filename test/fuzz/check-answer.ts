/** Checks that an answer is one that a Kubernetes API server may give. */
import { fromYaml } from '../../src/machinery/yaml.ts'
import { type FuzzRequest, isWatch } from './requests.ts'

export interface FuzzAnswer {
  readonly status: number
  readonly contentType: string
  readonly bytes: Buffer
}

/**
 * Answers of 500 and above that a real kube-apiserver gives as well (`NOTES.md` of the recorded scenarios). All others
 * are bugs.
 */
const knownErrors: readonly { readonly code: number; readonly message: RegExp }[] = [
  // A resourceVersion that is not a number, in a query and in an object; a future resourceVersion.
  { code: 500, message: /^resourceVersion: Invalid value: .*: strconv\.ParseUint: parsing / },
  { code: 500, message: /^strconv\.ParseUint: parsing / },
  { code: 504, message: /^Timeout: Too large resource version: \d+, current: \d+$/ },
  { code: 500, message: /^resourceVersion should not be set on objects to be created$/ },
  // Senseless strategic merge directives and lists.
  { code: 500, message: /^expected a (map\[string\]interface \{\}|\[\]interface \{\}), but received a / },
  { code: 500, message: /^map: .* does not contain declared merge key: /s },
  { code: 500, message: /^list element types are not identical: / },
  { code: 500, message: /^cannot merge lists without merge key for type / },
  { code: 500, message: /^merging lists cannot yet be specified in the patch$/ },
  { code: 500, message: /^unknown patch type: .* in map: /s },
  { code: 500, message: /^The order in patch list:\n/ },
  // An applied body that violates the schema.
  { code: 500, message: /^failed to create typed patch object \(/ },
  // Proxying to a target without an address, or to one that does not answer.
  { code: 500, message: /^no preferred addresses found; known addresses: / },
  { code: 503, message: /^no endpoints available for service / },
  { code: 503, message: /^error trying to reach service: / },
  // Bindings without a target.
  { code: 500, message: /^target\.(kind: Unsupported value: .*|name: Required value$)/s },
]

/** Returns the problem of an answer, or undefined if it is fine. */
export function checkAnswer(request: FuzzRequest, { status, contentType, bytes }: FuzzAnswer): string | undefined {
  const text = bytes.toString()
  const format = /^application\/(json|yaml)/.exec(contentType)?.[1]
  let value: { kind?: string; code?: number; message?: string } | undefined
  if (format && bytes.length > 0 && (status >= 400 || !isWatch(request))) {
    try {
      value = (format === 'json' ? JSON.parse(text) : fromYaml(text)) as typeof value
    } catch (error) {
      return `the body is not ${format}: ${(error as Error).message}`
    }
  }
  if (status < 400) return status < 200 ? `status ${status}` : undefined
  if (request.method === 'HEAD') return undefined
  if (value && status !== 404 && (value.kind !== 'Status' || value.code !== status)) return `${status} is not a Status`
  if (status >= 500) {
    const message = value?.message ?? text
    if (!knownErrors.some((entry) => entry.code === status && entry.message.test(message)))
      return `${status}: ${message.slice(0, 2000)}`
  }
  return undefined
}
