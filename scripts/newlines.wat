;; Finds newlines in memory, 64 bytes at a step. `scripts/kernel.js` turns this file into `src/text/newlines-wasm.ts`.
;;
;; A newline is one unit of 1, 2 or 4 bytes. Every function that depends on the width takes
;;   $unit   the newline as it lies in memory, read little-endian: 0x0A; 0x000A or 0x0A00; 0x0000000A or 0x0A000000
;;   $shift  log2 of the unit's bytes: 0, 1 or 2
;; Offsets are byte offsets into the memory; ranges [$from, $to) are half-open and $from is a multiple of the unit's
;; bytes. A unit that $to cuts through is not seen. Up to 15 bytes from $to on are loaded (and ignored), so the memory
;; MUST go on that far; the page for the block counts behind the chunk sees to that.
(module
  (memory (export "m") 1)

  ;; Only these two differ by width: run at $shift, marks at 3 + $shift.
  (table 6 6 funcref)
  (elem (i32.const 0) $run8 $run16 $run32 $marks8 $marks16 $marks32)
  (type $run (func (param $from i32) (param $to i32) (param $unit i32) (result i32)))
  (type $marks (func (param $from i32) (param $unit i32) (result i32)))

  ;; Newlines in [$from, $to).
  (func $count (export "count")
    (param $from i32) (param $to i32) (param $unit i32) (param $shift i32) (result i32)
    (local $total i32) (local $stop i32)
    (block $rest
      (loop $next
        (br_if $rest (i32.lt_s (i32.sub (local.get $to) (local.get $from)) (i32.const 64)))
        ;; A run is 63 steps at most: a step adds up to 4 to a byte of the sum, and 63 * 4 = 252 still fits.
        (local.set $stop (i32.add (local.get $from) (call $min
          (i32.and (i32.sub (local.get $to) (local.get $from)) (i32.const -64))
          (i32.const 4032))))
        (local.set $total (i32.add (local.get $total)
          (call_indirect (type $run)
            (local.get $from) (local.get $stop) (local.get $unit) (local.get $shift))))
        (local.set $from (local.get $stop))
        (br $next)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_s (local.get $from) (local.get $to)))
        (local.set $total (i32.add (local.get $total) (i32.popcnt
          (call $marksBefore (local.get $from) (local.get $to) (local.get $unit) (local.get $shift)))))
        (local.set $from (i32.add (local.get $from) (i32.const 16)))
        (br $next)))
    (local.get $total))

  ;; Newlines in each block of $size bytes of [$from, $to), as u32 from $out on. Returns how many blocks; the last may
  ;; be short.
  (func (export "blocks")
    (param $from i32) (param $to i32) (param $size i32) (param $out i32) (param $unit i32) (param $shift i32)
    (result i32)
    (local $blocks i32)
    (block $done
      (loop $next
        (br_if $done (i32.ge_s (local.get $from) (local.get $to)))
        (i32.store
          (i32.add (local.get $out) (i32.shl (local.get $blocks) (i32.const 2)))
          (call $count
            (local.get $from)
            (i32.add (local.get $from)
              (call $min (local.get $size) (i32.sub (local.get $to) (local.get $from))))
            (local.get $unit) (local.get $shift)))
        (local.set $blocks (i32.add (local.get $blocks) (i32.const 1)))
        (local.set $from (i32.add (local.get $from) (local.get $size)))
        (br $next)))
    (local.get $blocks))

  ;; Offset just after the $k-th newline of [$from, $to), -1 if there are fewer. $k is at least 1.
  (func (export "skip")
    (param $from i32) (param $to i32) (param $k i32) (param $unit i32) (param $shift i32) (result i32)
    (local $found i32)
    ;; First by strides of 1 KiB, because counting is the faster way to pass newlines, ...
    (block $near
      (loop $next
        (br_if $near (i32.lt_s (i32.sub (local.get $to) (local.get $from)) (i32.const 1024)))
        (local.set $found (call $count
          (local.get $from) (i32.add (local.get $from) (i32.const 1024)) (local.get $unit) (local.get $shift)))
        (br_if $near (i32.ge_s (local.get $found) (local.get $k)))
        (local.set $k (i32.sub (local.get $k) (local.get $found)))
        (local.set $from (i32.add (local.get $from) (i32.const 1024)))
        (br $next)))
    ;; ... then by groups of 16 bytes; from here on $found holds the marks of a group.
    (block $here
      (loop $next
        (if (i32.ge_s (local.get $from) (local.get $to)) (then (return (i32.const -1))))
        (local.set $found
          (call $marksBefore (local.get $from) (local.get $to) (local.get $unit) (local.get $shift)))
        (br_if $here (i32.ge_s (i32.popcnt (local.get $found)) (local.get $k)))
        (local.set $k (i32.sub (local.get $k) (i32.popcnt (local.get $found))))
        (local.set $from (i32.add (local.get $from) (i32.const 16)))
        (br $next)))
    ;; Clear the lowest mark $k - 1 times: the lowest one left is the $k-th.
    (block $done
      (loop $next
        (br_if $done (i32.le_s (local.get $k) (i32.const 1)))
        (local.set $found (i32.and (local.get $found) (i32.sub (local.get $found) (i32.const 1))))
        (local.set $k (i32.sub (local.get $k) (i32.const 1)))
        (br $next)))
    (i32.add (local.get $from)
      (i32.shl (i32.add (i32.ctz (local.get $found)) (i32.const 1)) (local.get $shift))))

  ;; The marks at $from, without those of units that end after $to. $from < $to.
  (func $marksBefore (param $from i32) (param $to i32) (param $unit i32) (param $shift i32) (result i32)
    (i32.and
      (call_indirect (type $marks)
        (local.get $from) (local.get $unit) (i32.add (local.get $shift) (i32.const 3)))
      ;; As many low bits as there are whole units: (1 << units) - 1.
      (i32.sub
        (i32.shl (i32.const 1)
          (i32.shr_u
            (call $min (i32.sub (local.get $to) (local.get $from)) (i32.const 16))
            (local.get $shift)))
        (i32.const 1))))

  (func $min (param $a i32) (param $b i32) (result i32)
    (select (local.get $a) (local.get $b) (i32.lt_s (local.get $a) (local.get $b))))

  ;; The 16 bytes of $sum, as unsigned numbers, added up.
  (func $addBytes (param $sum v128) (result i32)
    (local.set $sum (i32x4.extadd_pairwise_i16x8_u (i16x8.extadd_pairwise_i8x16_u (local.get $sum))))
    (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
      (i32.add (i32x4.extract_lane 2 (local.get $sum)) (i32x4.extract_lane 3 (local.get $sum)))))

  ;; run: newlines in [$from, $to), which is 1 to 63 steps of 64 bytes. A comparison yields -1 in every byte of a unit
  ;; that is a newline, hence the subtraction, and hence the division by the unit's bytes at the end.
  (func $run8 (type $run) (param $from i32) (param $to i32) (param $unit i32) (result i32)
    (local $newline v128) (local $sum v128)
    (local.set $newline (i8x16.splat (local.get $unit)))
    (loop $step
      (local.set $sum (i8x16.sub (local.get $sum)
        (i8x16.add
          (i8x16.add
            (i8x16.eq (v128.load (local.get $from)) (local.get $newline))
            (i8x16.eq (v128.load offset=16 (local.get $from)) (local.get $newline)))
          (i8x16.add
            (i8x16.eq (v128.load offset=32 (local.get $from)) (local.get $newline))
            (i8x16.eq (v128.load offset=48 (local.get $from)) (local.get $newline))))))
      (br_if $step (i32.lt_s
        (local.tee $from (i32.add (local.get $from) (i32.const 64)))
        (local.get $to))))
    (call $addBytes (local.get $sum)))

  (func $run16 (type $run) (param $from i32) (param $to i32) (param $unit i32) (result i32)
    (local $newline v128) (local $sum v128)
    (local.set $newline (i16x8.splat (local.get $unit)))
    (loop $step
      (local.set $sum (i8x16.sub (local.get $sum)
        (i8x16.add
          (i8x16.add
            (i16x8.eq (v128.load (local.get $from)) (local.get $newline))
            (i16x8.eq (v128.load offset=16 (local.get $from)) (local.get $newline)))
          (i8x16.add
            (i16x8.eq (v128.load offset=32 (local.get $from)) (local.get $newline))
            (i16x8.eq (v128.load offset=48 (local.get $from)) (local.get $newline))))))
      (br_if $step (i32.lt_s
        (local.tee $from (i32.add (local.get $from) (i32.const 64)))
        (local.get $to))))
    (i32.shr_u (call $addBytes (local.get $sum)) (i32.const 1)))

  (func $run32 (type $run) (param $from i32) (param $to i32) (param $unit i32) (result i32)
    (local $newline v128) (local $sum v128)
    (local.set $newline (i32x4.splat (local.get $unit)))
    (loop $step
      (local.set $sum (i8x16.sub (local.get $sum)
        (i8x16.add
          (i8x16.add
            (i32x4.eq (v128.load (local.get $from)) (local.get $newline))
            (i32x4.eq (v128.load offset=16 (local.get $from)) (local.get $newline)))
          (i8x16.add
            (i32x4.eq (v128.load offset=32 (local.get $from)) (local.get $newline))
            (i32x4.eq (v128.load offset=48 (local.get $from)) (local.get $newline))))))
      (br_if $step (i32.lt_s
        (local.tee $from (i32.add (local.get $from) (i32.const 64)))
        (local.get $to))))
    (i32.shr_u (call $addBytes (local.get $sum)) (i32.const 2)))

  ;; marks: one bit for every unit of the 16 bytes at $from, the first unit lowest, set where it is a newline.
  (func $marks8 (type $marks) (param $from i32) (param $unit i32) (result i32)
    (i8x16.bitmask (i8x16.eq (v128.load (local.get $from)) (i8x16.splat (local.get $unit)))))

  (func $marks16 (type $marks) (param $from i32) (param $unit i32) (result i32)
    (i16x8.bitmask (i16x8.eq (v128.load (local.get $from)) (i16x8.splat (local.get $unit)))))

  (func $marks32 (type $marks) (param $from i32) (param $unit i32) (result i32)
    (i32x4.bitmask (i32x4.eq (v128.load (local.get $from)) (i32x4.splat (local.get $unit))))))
