/** Kubernetes' CEL libraries beyond the standard one, as of 1.36. */
import type { Library } from '../library.ts'
import { authorizerLibrary, authorizerSelectorsLibrary } from './authorizer.ts'
import { listExtensionsLibrary } from './lists/list-extensions.ts'
import { listsLibrary } from './lists/lists.ts'
import { setsLibrary } from './lists/sets.ts'
import { cidrLibrary } from './network/cidr.ts'
import { ipLibrary } from './network/ip.ts'
import { urlLibrary } from './network/url.ts'
import { quantityLibrary } from './quantity.ts'
import { semverLibrary } from './semver.ts'
import { namedFormatsLibrary } from './strings/named-formats.ts'
import { regexLibrary } from './strings/regex.ts'
import { stringsLibrary } from './strings/strings.ts'

export type { CheckAuthorizer } from './authorizer.ts'
export { AuthorizerValue, authorizerType } from './authorizer.ts'
/** Only for mutating admission policies. */
export { jsonPatchLibrary } from './strings/jsonpatch.ts'

/** The libraries of the base environment, in the order in which versions added them. */
export const kubernetesLibraries: readonly Library[] = [
  urlLibrary,
  regexLibrary,
  listsLibrary,
  authorizerLibrary,
  quantityLibrary,
  stringsLibrary,
  setsLibrary,
  ipLibrary,
  cidrLibrary,
  namedFormatsLibrary,
  authorizerSelectorsLibrary,
  semverLibrary,
  listExtensionsLibrary,
]
