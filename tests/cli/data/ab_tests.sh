#!/bin/sh
# Stands for a test binary under `bench ab`: ab_tests.sh WALL_NS [fails|interrupts|scatters|silent|leaves]. Its test
# Log.Writes takes WALL_NS, give or take a percent that the number of the round decides.
round=$(basename "$SYSCOST_CSV" .csv | sed "s/^0*//")
wall=$(($1 + $1 * ((round * 37) % 11 - 5) / 500))
scattered=$(($1 + $1 * ((round * 53) % 17 - 8) / 20))
template=ab.template
case "$2$round" in
  fails2)
    echo "[  FAILED  ] Log.Writes"
    exit 3
    ;;
  interrupts8)
    kill -INT $PPID
    exit 130
    ;;
  interrupts_first1)
    kill -INT $PPID
    exit 130
    ;;
  silent*) exit 0 ;;
  scatters*) template=ab_scatters.template ;;
esac
sed "s/@RUN@/$SYSCOST_RUN_ID/;s/@WALL@/$wall/g;s/@SCATTERED@/$scattered/g" "$template" >"$SYSCOST_CSV"
