/** Parses function names of Go's runtime into package, receiver, method and closure. */

export interface FunctionName {
  /** As printed: `example.com/shop/cart.(*Cart).Add.func1`. */
  readonly full: string
  /** `example.com/shop/cart`; empty for names without one (C functions, `panic`). */
  readonly package: string
  /** `*Cart` or `Cart`; undefined for functions. */
  readonly receiver?: string
  /** `Add`, without type arguments. */
  readonly name: string
  /** The closure inside the function: `func1.2`. */
  readonly closure?: string
  /** True if it has type arguments, which Go prints as `[...]`. */
  readonly generic: boolean
  /** The compiler-generated wrapper, in words. */
  readonly wrapper?: string
}

const wrappers: readonly (readonly [RegExp, string])[] = [
  [/-fm$/, 'wrapper of a method value'],
  [/\.gowrap\d+$/, 'wrapper of a go statement'],
  [/\.deferwrap\d+$/, 'wrapper of a defer statement'],
  [/-range\d+$/, 'body of a range over a function'],
]

/** Parses a name. C functions and `panic` have no package. */
export function functionName(full: string): FunctionName {
  const [pkg, rest] = splitPackage(full)
  const wrapper = wrappers.find(([suffix]) => suffix.test(rest))
  const bare = (wrapper ? rest.replace(wrapper[0], '') : rest).replace(/\[[^\]]*\]/g, '')
  const [, pointer, method = bare] = /^\((\*[^)]+)\)\.(.+)$/.exec(bare) ?? []
  const parts = method.split('.')
  const closureAt = parts.findIndex(
    (part, index) => index > 0 && /^(func)?\d+$/.test(part) && !(index === 1 && parts[0] === 'init'),
  )
  const named = closureAt < 0 ? parts : parts.slice(0, closureAt)
  // `glob..func1` is a closure of a package variable, `init.0` the first init function of a package.
  const isFunction =
    pointer !== undefined || named.length < 2 || named[0] === 'glob' || named[0] === 'init' || named[0] === ''
  const receiver = pointer ?? (isFunction ? undefined : named[0])
  const name = (isFunction ? named : named.slice(1)).filter(Boolean).join('.')
  return {
    full,
    package: pkg,
    ...(receiver !== undefined && { receiver }),
    name: name || method,
    ...(closureAt > 0 && { closure: parts.slice(closureAt).join('.') }),
    generic: /\[/.test(rest),
    ...(wrapper && { wrapper: wrapper[1] }),
  }
}

/** Dots in the last element of a path are printed as %2e, so the next dot ends the package. */
function splitPackage(full: string): [pkg: string, rest: string] {
  const bracket = full.indexOf('[')
  const slash = full.lastIndexOf('/', bracket < 0 ? full.length : bracket)
  const dot = full.indexOf('.', slash + 1)
  if (dot < 0) return ['', full]
  return [
    full.slice(0, dot).replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    full.slice(dot + 1),
  ]
}
