/** The page at `/debug/pprof/`: which profiles there are, and how they are read. */

const entries: readonly (readonly [name: string, text: string])[] = [
  ['allocs', 'what was allocated during <code>seconds</code> (10 by default), what is gone by now included'],
  ['cmdline', 'the command line of this process'],
  [
    'heap',
    'what was allocated during <code>seconds</code> (10 by default) and is still there; <code>gc=1</code> ' +
      'collects garbage first',
  ],
  ['profile', 'where the thread of the server spent its time during <code>seconds</code> (30 by default)'],
]

export const indexPage = `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>/debug/pprof/</title></head>
<body>
<h1>/debug/pprof/</h1>
<p>Profiles of this process. <code>go tool pprof</code> reads them; so do the viewers for its format.</p>
<dl>
${entries.map(([name, text]) => `<dt><a href="${name}">${name}</a></dt><dd>${text}</dd>`).join('\n')}
</dl>
</body>
</html>
`
