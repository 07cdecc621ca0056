/**
 * `cel.bind(name, value, result)`: cel-go's extension that Kubernetes gives to expressions about devices, and to no
 * others.
 */
import type { Library } from '../library.ts'
import { bindMacro } from '../standard/macros.ts'

export const bindingsLibrary: Library = { name: 'cel.bind', macros: [bindMacro] }
