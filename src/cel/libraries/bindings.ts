/** `cel.bind(name, value, result)`: cel-go's extension, which Kubernetes enables for device expressions only. */
import type { Library } from '../library.ts'
import { bindMacro } from '../standard/macros.ts'

export const bindingsLibrary: Library = { name: 'cel.bind', macros: [bindMacro] }
