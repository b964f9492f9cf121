/** Preloaded by a test: a driver's fault that nobody catches, as drivers make them, with all that it knows. */
const fault = Object.assign(new Error('it broke'), {
  command: { name: 'auth', args: [process.env['CARRIED']] },
  query: process.env['CARRIED'],
})

setTimeout(() => {
  if (process.env['FAULT'] === 'thrown') throw fault
  void Promise.reject(fault)
}, 200)
