/** Kubernetes' library of URLs: `url('https://example.com:80/path').getHost()`. */
import { checkRequestUri, type GoUrl, parseUrl, UrlError } from '../../../machinery/values/go-url.ts'
import type { Library } from '../../library.ts'
import { declare, member, overload } from '../../standard/declare.ts'
import { boolType, listType, mapType, opaqueType, stringType } from '../../types.ts'
import { ArrayList, EntryMap, OpaqueValue, type Value } from '../../values.ts'
import { expectInstance, rethrowAsCelError, succeeds, textOf } from '../arguments.ts'
import { scanFirstCosts } from '../costs.ts'

export const urlType = opaqueType('kubernetes.URL')

class UrlValue extends OpaqueValue {
  readonly type = urlType
  readonly url: GoUrl
  constructor(url: GoUrl) {
    super()
    this.url = url
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof UrlValue && this.url.identity === other.url.identity
  }
}

/** Parses an absolute URI or path. Unlike request URIs, it may have a fragment. */
const urlOf = (text: string): UrlValue =>
  rethrowAsCelError(
    UrlError,
    () => {
      checkRequestUri(text)
      return new UrlValue(parseUrl(text))
    },
    (message) => `URL parse error during conversion from string: ${message}`,
  )

function queryOf(value: Value | undefined): EntryMap {
  const query = new EntryMap()
  for (const [key, values] of expectInstance(UrlValue, value).url.query) query.add(key, new ArrayList(values))
  return query
}

const part = (name: string, id: string, key: 'scheme' | 'host' | 'hostname' | 'port' | 'escapedPath') =>
  declare(
    name,
    member(id, [urlType], stringType, (value) => expectInstance(UrlValue, value).url[key]),
  )

export const urlLibrary: Library = {
  name: 'kubernetes.urls',
  types: [urlType],
  functions: [
    declare(
      'url',
      overload('string_to_url', [stringType], urlType, (text) => urlOf(textOf(text)), scanFirstCosts(1, true)),
    ),
    declare(
      'isURL',
      overload('is_url_string', [stringType], boolType, (text) =>
        succeeds(() => rethrowAsCelError(UrlError, () => checkRequestUri(textOf(text)))),
      ),
    ),
    part('getScheme', 'url_get_scheme', 'scheme'),
    part('getHost', 'url_get_host', 'host'),
    part('getHostname', 'url_get_hostname', 'hostname'),
    part('getPort', 'url_get_port', 'port'),
    part('getEscapedPath', 'url_get_escaped_path', 'escapedPath'),
    declare('getQuery', member('url_get_query', [urlType], mapType(stringType, listType(stringType)), queryOf)),
  ],
}
