/** Plugins of esbuild that reduce what the bundle takes from Node's modules and from packages. */
import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import type { Plugin } from 'esbuild'

/**
 * Imports only the used names of Node's modules. A full import reads every export, and many of them load further
 * modules: undici (node:http), workers (node:util), WebCrypto, file streams, reports. That would slow down each start.
 */
export const namedExports: Plugin = {
  name: 'named-exports',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?[a-z0-9_/]+$/ }, ({ path, kind }) => {
      if (!isBuiltin(path)) return undefined
      return {
        path: path.replace('node:', ''),
        namespace: 'named-exports',
        suffix: kind === 'require-call' ? '?whole' : '',
        sideEffects: false,
      }
    })
    onLoad({ filter: /.*/, namespace: 'named-exports' }, ({ path, suffix }) => {
      const taken = `process.getBuiltinModule('node:${path}')`
      if (suffix) return { contents: `module.exports = ${taken}` }
      // Names without imports are dropped: esbuild removes unused pure calls.
      const names = Object.keys(process.getBuiltinModule(path) ?? {}).filter((name) => name !== 'default')
      const exported = names.map((name) => `export const ${name} = /* @__PURE__ */ take('${name}')`)
      return {
        contents: [
          `const taken = ${taken}`,
          'const take = (name) => taken[name]',
          'export default taken',
          ...exported,
        ].join('\n'),
      }
    })
  },
}

/** Puts those of src/lib/process/abort-controller.ts in place of AbortController and AbortSignal.any in our sources. */
export const unlimitedSignals: Plugin = {
  name: 'unlimited-signals',
  setup({ onLoad }) {
    const replacement = join(import.meta.dirname, '../../src/lib/process/abort-controller.ts')
    onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      if (path === replacement || path.includes('/node_modules/')) return undefined
      const text = readFileSync(path, 'utf8')
      const names = [
        ...(text.includes('new AbortController()') ? ['AbortController'] : []),
        ...(text.includes('AbortSignal.any(') ? ['anyAbortSignal'] : []),
      ]
      if (names.length === 0) return undefined
      // On the first line, so that positions in errors remain.
      const line = `import { ${names.join(', ')} } from ${JSON.stringify(replacement)};`
      return { contents: line + text.replaceAll('AbortSignal.any(', 'anyAbortSignal('), loader: 'ts' }
    })
  },
}

/** Removes child_process from commander, which uses it only for external subcommands. */
export const withoutChildProcess: Plugin = {
  name: 'without-child-process',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ path, importer }) =>
      importer.includes('/node_modules/commander/') ? { path, namespace: 'without-child-process' } : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'without-child-process' }, () => ({ contents: 'export default {}' }))
  },
}

/** Removes the native parts of ssh2, which are optional. */
export const withoutNative: Plugin = {
  name: 'without-native',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^cpu-features$|\/sshcrypto\.node$/ }, ({ path }) => ({ path, namespace: 'without-native' }))
    // These use their own path only to find optional files.
    onLoad({ filter: /\/ssh2\/lib\/(agent|protocol\/crypto\/poly1305)\.js$/ }, ({ path }) => ({
      contents: `const __dirname = '/'\n${readFileSync(path, 'utf8')}`,
      loader: 'js',
    }))
    onLoad({ filter: /.*/, namespace: 'without-native' }, () => ({
      contents: "throw new Error('not in the bundle')",
      loader: 'js',
    }))
  },
}
